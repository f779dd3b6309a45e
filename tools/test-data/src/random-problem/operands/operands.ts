import { storages } from '../data/storage.ts';
import { type StridedData, strided } from '../data/strided-data.ts';
import { cumulative, type Draft, type OperandName } from '../draft.ts';
import type { LayoutName } from '../options/storage.ts';
import { pagedOperand } from './paged-operand.ts';

/** Strides that are never multiplied by a nonzero index, because the dimension has one element. */
const wildStride = 2 ** 20 + 3;

/** q, k, v and dO of a draft whose sizes are set. */
export function makeOperands(draft: Draft): Record<OperandName, StridedData> {
  const { Hq, Hk, Hv, Dqk, Dv, pageSize } = draft;
  return {
    q: operand(draft, 'q', Hq, Dqk, 'q'),
    k: pageSize.k ? pagedOperand(draft, 'k', pageSize.k) : operand(draft, 'k', Hk, Dqk, 'kv'),
    v: pageSize.v ? pagedOperand(draft, 'v', pageSize.v) : operand(draft, 'v', Hv, Dv, 'kv'),
    dO: operand(draft, 'dO', Hq, Dv, 'q'),
  };
}

function operand(draft: Draft, name: OperandName, H: number, D: number, side: 'q' | 'kv'): StridedData {
  const { random, B, garbage, dtype } = draft;
  const { S, lengths, spans, tokens } = sideOf(draft, side);
  const layout = layoutOf(draft, name);
  const offset = random.chance(0.3) ? 4 * random.integer(1, 5) : 0;
  const options = { dtype: dtype[name], offset, gaps: garbage };
  const starts = draft.starts[name];
  if (spans && starts === 'ragged') {
    // One token more than exists, for the gaps between sequences.
    const strides = packedStrides(layout, tokens + 1, H, D);
    const empty = strided([tokens + 1, H, D], { ...options, strides }, () => garbage);
    return ragged(draft, name, empty, lengths, spans);
  }
  if (spans && starts === 'packed') {
    const alive = spans.flatMap((span, b) => Array.from({ length: span }, (_, s) => s < lengths[b]));
    const strides = packedStrides(layout, tokens, H, D);
    return strided([tokens, H, D], { ...options, strides }, ([t]) => (alive[t] ? random.normal() : garbage));
  }
  const shape = [B, H, S, D];
  const own = denseStrides(layout, H, S, D);
  const strides = own.map((stride, d) => (shape[d] === 1 && random.chance(0.5) ? wildStride : stride));
  return strided(shape, { ...options, strides }, ([b, , s]) => (s < lengths[b] ? random.normal() : garbage));
}

/**
 * Writes the sequences of an operand into its storage, each shifted by a number of elements from the position
 * that its tokens imply.
 */
function ragged(
  { random, options }: Draft,
  name: OperandName,
  empty: StridedData,
  lengths: readonly number[],
  spans: readonly number[],
): StridedData {
  const { data, offset, strides } = empty;
  const [, H, D] = empty.shape;
  const [token, head, channel] = strides;
  const { encode, round } = storages[empty.dtype];
  let shift = 0;
  const offsets = cumulative(spans).map(first => {
    shift = random.chance(0.5) ? random.integer(shift, token) : shift;
    return first * token + shift;
  });
  lengths.forEach((length, b) => {
    for (let s = 0; s < length; s++)
      for (let h = 0; h < H; h++)
        for (let d = 0; d < D; d++)
          data[offset + offsets[b] + s * token + h * head + d * channel] = encode(round(random.normal()));
  });
  options.raggedOffsets = { ...(options.raggedOffsets ?? {}), [name]: offsets };
  return empty;
}

function sideOf(
  draft: Draft,
  side: 'q' | 'kv',
): { S: number; lengths: number[]; spans: number[] | null; tokens: number } {
  return side === 'q'
    ? { S: draft.Sq, lengths: draft.lengthsQ, spans: draft.spansQ, tokens: draft.tokensQ }
    : { S: draft.Skv, lengths: draft.lengthsKv, spans: draft.spansKv, tokens: draft.tokensKv };
}

/** The layouts of 'mixed', which are fixed because kernels depend on them. */
const mixed: Readonly<Record<OperandName, LayoutName>> = {
  ...{ q: 'tokens first', k: 'gaps of 1', v: 'gaps of 4', dO: 'every other channel' },
};

/** Only k and v can share heads by stride; q and dO have their own rows in each head. */
function layoutOf({ choice }: Draft, name: OperandName): LayoutName {
  const chosen = choice.layout as LayoutName;
  if (chosen === 'mixed') return mixed[name];
  return chosen === 'shared heads' && (name === 'q' || name === 'dO') ? 'whole' : chosen;
}

function rowOf(layout: LayoutName, D: number): { readonly row: number; readonly step: number } {
  const step = layout === 'every other channel' ? 2 : 1;
  const gap = layout === 'gaps of 4' ? 4 : layout === 'gaps of 1' ? 1 : 0;
  return { row: D * step + gap, step };
}

function denseStrides(layout: LayoutName, H: number, S: number, D: number): number[] {
  const { row, step } = rowOf(layout, D);
  if (layout === 'tokens first') return [S * H * D, D, H * D, 1];
  if (layout === 'shared heads') return [S * D, 0, D, 1];
  return [H * S * row + 4, S * row, row, step];
}

function packedStrides(layout: LayoutName, tokens: number, H: number, D: number): number[] {
  const { row, step } = rowOf(layout, D);
  // Heads first: the tokens of each head are contiguous.
  if (layout === 'tokens first') return [D, tokens * D, 1];
  if (layout === 'shared heads') return [D, 0, 1];
  return [H * row, row, step];
}
