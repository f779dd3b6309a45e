import { type DType, elementsSpanned, Tensor } from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import { extent, type TensorLayout } from '../concrete/layouts.ts';
import type { StrideName } from '../format/case-format.ts';
import { MARGIN, poisoned } from './canary.ts';

/** A tensor of a case in memory, and the offsets of its rows. */
export interface Placed {
  /**
   * (B, H, S, D), or (T, H, D) if packed; its storage is as long as the layout requires, with a margin at
   * both ends.
   */
  readonly tensor: Tensor;
  readonly extent: readonly [H: number, S: number, D: number];
  readonly channel: number;
  /** The storage offset of row (b, h, s). */
  row(b: number, h: number, s: number): number;
  /** The number of existing rows of sequence b. */
  rows(b: number): number;
}

/**
 * Memory for q, k, v or o of a call (or for a tensor with the same layout), filled with NaN: gaps, margins,
 * the tail of a packed tensor and the rows beyond the lengths stay NaN.
 */
export function place(c: Concrete, name: StrideName, dtype: DType): Placed {
  const { B } = c.dims;
  const [H, S, D] = extent(name, c.dims);
  const layout = c.layouts[name];
  const lengths = name === 'q' || name === 'o' ? c.lengths.q : c.lengths.kv;
  const [sb, sh, ss, channel] = layout.strides;
  const starts = sequenceStarts(layout, lengths, B, S);
  const shape = layout.packed ? [B * S, H, D] : [B, H, S, D];
  const strides = layout.packed ? [ss, sh, channel] : [sb, sh, ss, channel];
  const offset = MARGIN + layout.front;
  const span = elementsSpanned({ shape, strides });
  const tensor = Tensor.wrap(poisoned(dtype, offset + span + MARGIN), { dtype, shape, strides, offset });
  const batchStride = layout.packed ? 0 : sb;
  return {
    tensor,
    extent: [H, S, D],
    channel,
    row: (b, h, s) => offset + b * batchStride + h * sh + (starts[b] + s) * ss,
    rows: b => lengths?.[b] ?? S,
  };
}

/** The first token of each sequence; in a packed tensor, sequences follow each other. */
function sequenceStarts(
  { packed }: TensorLayout,
  lengths: readonly number[] | null,
  B: number,
  S: number,
): number[] {
  const starts = new Array<number>(B).fill(0);
  if (packed) for (let b = 1; b < B; b++) starts[b] = starts[b - 1] + (lengths?.[b - 1] ?? S);
  return starts;
}

/** Writes the existing rows of a contiguous (B, H, S, D) tensor of the same dtype. */
export function write(
  { tensor, extent: [H, S, D], channel, row, rows }: Placed,
  { data, shape }: Tensor,
): Tensor {
  for (let b = 0; b < shape[0]; b++) {
    for (let h = 0; h < H; h++) {
      for (let s = 0; s < rows(b); s++) {
        const from = ((b * H + h) * S + s) * D;
        const to = row(b, h, s);
        for (let d = 0; d < D; d++) tensor.data[to + d * channel] = data[from + d];
      }
    }
  }
  return tensor;
}

/**
 * The offsets of the elements that a kernel writes: all elements of a dense result, or those of a packed
 * result's sequences.
 */
export function* ownedOffsets(placed: Placed, B: number, packed: boolean): Generator<number> {
  const [H, S, D] = placed.extent;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < H; h++) {
      for (let s = 0; s < (packed ? placed.rows(b) : S); s++) {
        const at = placed.row(b, h, s);
        for (let d = 0; d < D; d++) yield at + d * placed.channel;
      }
    }
  }
}

/** Cumulative lengths: [0, n0, n0 + n1, …]. */
export function cumulative(lengths: readonly number[]): number[] {
  const sums = [0];
  for (const n of lengths) sums.push(sums[sums.length - 1] + n);
  return sums;
}
