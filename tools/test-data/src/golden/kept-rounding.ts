import type { GoldenCase } from './parse-golden.ts';

/**
 * The rounding of o that remains in dbias and dslopes. Backward computes delta_i = Σ_d dO_id o_id from the o
 * that forward stored, each element with a relative error of at most u, so that delta_i is off by at most
 * u·A_i, where A_i = Σ_d |dO_id o_id|. An element of dbias is Σ P_ij (dP_ij − delta_i) over the rows i and
 * keys j that share it, and one of dslopes weights each term with its distance |i + off − j|. In exact
 * arithmetic the terms of a row cancel over its keys (Σ_j P_ij dP_ij = delta_i and Σ_j P_ij = 1), while the
 * error of delta_i counts Σ_j P_ij ≤ 1 times. So the element is off by at most u·ΣA_i over its rows, for
 * dslopes times the largest distance of each row, however small the element is itself. This function returns
 * the largest such sum over the elements; 0 for other tensors.
 */
export function keptRounding(golden: GoldenCase, tensor: string, u: number): number {
  const { bias } = golden.inputs;
  const isSlopes = tensor === 'dAlibi';
  if (!isSlopes && (tensor !== 'dbias' || !bias)) return 0;
  const source = bias ? [...Array<number>(4 - bias.shape.length).fill(1), ...bias.shape] : [];
  const sums = new Map<string, number>();
  for (const { place, size, distance } of rowsOf(golden)) {
    const element = isSlopes ? String(place[1]) : place.map((n, d) => (source[d] === 1 ? 0 : n)).join();
    sums.set(element, (sums.get(element) ?? 0) + size * (isSlopes ? distance : 1));
  }
  return u * Math.max(0, ...sums.values());
}

interface Row {
  /** Sequence, head and query. */
  readonly place: readonly [number, number, number];
  /** Σ_d |dO_id o_id| */
  readonly size: number;
  /** The largest distance of a key from the diagonal, where `causal` does not hide the key. */
  readonly distance: number;
}

/** The query rows of a case. */
function* rowsOf({ params, inputs, outputs }: GoldenCase): Generator<Row> {
  const { dO, cuSeqQ, cuSeqKv } = inputs;
  const { o } = outputs;
  if (!dO || !o) return;
  const { B, Hq, Sq, Skv, Dv, qLens, kvLens, causal, align } = params;
  const lengthOf = (cumulative: typeof cuSeqQ, b: number): number | undefined =>
    cumulative && Number(cumulative.data[b + 1]) - Number(cumulative.data[b]);
  for (let b = 0; b < B; b++) {
    const queries = lengthOf(cuSeqQ, b) ?? qLens?.[b] ?? Sq;
    const keys = lengthOf(cuSeqKv, b) ?? kvLens?.[b] ?? Skv;
    for (let h = 0; h < Hq; h++) {
      for (let i = 0; i < queries; i++) {
        const row = cuSeqQ ? (Number(cuSeqQ.data[b]) + i) * Hq + h : (b * Hq + h) * Sq + i;
        let size = 0;
        for (let at = row * Dv; at < (row + 1) * Dv; at++)
          size += Math.abs(Number(dO.data[at]) * Number(o.data[at]));
        const diagonal = align === 'br' ? i + keys - queries : i;
        const after = causal ? 0 : keys - 1 - diagonal;
        yield { place: [b, h, i], size, distance: Math.max(0, diagonal, after) };
      }
    }
  }
}
