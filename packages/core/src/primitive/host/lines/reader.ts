import { decodeTable } from '../../../tensor/dtype/decode-table.ts';
import { dtypeInfo } from '../../../tensor/dtype/dtype.ts';
import type { Shape } from '../../../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../../../tensor/tensor.ts';

/** Returns the stored element at an index of a tensor's data as a number. */
export type Reader = (at: number) => number;

/** A reader of a tensor's elements. */
export function reader({ data, dtype }: Tensor): Reader {
  const { bytes, kind } = dtypeInfo[dtype];
  if (kind === 'float' && bytes < 4) {
    const table = decodeTable(dtype);
    return at => table[data[at]];
  }
  if (kind === 'boolean') return at => (data[at] === 0 ? 0 : 1);
  return at => data[at];
}

/**
 * The strides of a tensor broadcast to `shape`, right-aligned: 0 along dimensions of size 1 and missing
 * dimensions.
 */
export function broadcastStrides(t: Pick<TensorDesc, 'shape' | 'strides'>, shape: Shape): number[] {
  const lead = shape.length - t.shape.length;
  return shape.map((_, d) => (d < lead || t.shape[d - lead] === 1 ? 0 : t.strides[d - lead]));
}

/** The strides of a tensor's matrices (its last two dimensions), broadcast to a batch of matrices. */
export function batchStrides({ shape, strides }: TensorDesc, batch: Shape): number[] {
  return broadcastStrides({ shape: shape.slice(0, -2), strides }, batch);
}

/** Calls `visit` for every index of `shape` in row-major order. The array is reused between calls. */
export function forEachIndex(shape: Shape, visit: (index: readonly number[]) => void): void {
  if (shape.includes(0)) return;
  const index = new Array<number>(shape.length).fill(0);
  for (;;) {
    visit(index);
    let d = shape.length - 1;
    while (d >= 0 && ++index[d] === shape[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

/** Σ index[d]·strides[d]. */
export function offsetOf(index: readonly number[], strides: readonly number[]): number {
  let at = 0;
  for (let d = 0; d < index.length; d++) at += index[d] * strides[d];
  return at;
}
