import type { GoldenCase, RawTensor } from '@tilewise/test-data';

/**
 * The case with NaN wherever nothing may be read: in the rows of q, dO and dLse at or beyond a sequence's
 * number of queries, and in the rows of k and v at or beyond its number of keys. Packed sequences have no
 * such rows.
 */
export function poisonPadding(golden: GoldenCase): GoldenCase {
  const { qLens, kvLens, layout } = golden.params;
  if (layout !== 'BHSD') return golden;
  const { q, k, v, dO, dLse } = golden.inputs;
  const poisoned: Record<string, RawTensor> = { ...golden.inputs };
  if (qLens) {
    Object.assign(poisoned, { q: fillBeyond(q, qLens), dO: fillBeyond(dO, qLens) });
    if (dLse) poisoned.dLse = fillBeyond(dLse, qLens);
  }
  if (kvLens) Object.assign(poisoned, { k: fillBeyond(k, kvLens), v: fillBeyond(v, kvLens) });
  return { ...golden, inputs: poisoned };
}

/** A copy of (B, H, S, …) with NaN at the positions s ≥ lengths[b]. */
function fillBeyond(tensor: RawTensor, lengths: readonly number[]): RawTensor {
  if (tensor.dtype !== 'f32') throw new Error(`expected a tensor of f32, got ${tensor.dtype}`);
  const [B, H, S, D = 1] = tensor.shape;
  const data = tensor.data.slice();
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < H; h++) {
      const row = (b * H + h) * S;
      data.fill(NaN, (row + lengths[b]) * D, (row + S) * D);
    }
  }
  return { ...tensor, data };
}
