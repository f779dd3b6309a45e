import {
  InvalidShapeError,
  isContiguous,
  reshapedStrides,
  type Shape,
  type TensorDesc,
} from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from './expr.ts';
import type { Lowering, Value } from './lowering.ts';

/** The part of a lowering that views and copies need. */
export type Views = Pick<Lowering, 'view' | 'temporary' | 'map'>;

/** The dimensions of a value in another order; its memory is shared. */
export function permuted(lowering: Pick<Lowering, 'view'>, value: Value, order: readonly number[]): Value {
  const { shape, strides } = value.desc;
  return lowering.view(
    value,
    order.map(d => shape[d]),
    order.map(d => strides[d]),
  );
}

/** The last two dimensions swapped. */
export function transposed(lowering: Pick<Lowering, 'view'>, value: Value): Value {
  const order = value.desc.shape.map((_, d) => d);
  const last = order.length - 1;
  [order[last - 1], order[last]] = [last, last - 1];
  return permuted(lowering, value, order);
}

/** The strides that give a tensor another shape without a copy; null when there are none. */
export function viewStrides({ shape, strides }: TensorDesc, target: Shape): readonly number[] | null {
  try {
    return reshapedStrides(shape, strides, target);
  } catch (error) {
    if (error instanceof InvalidShapeError) return null;
    throw error;
  }
}

/**
 * A value in another shape with the same row-major order: a view where possible, else a copy.
 * @throws InvalidShapeError for a shape of more or fewer elements.
 */
export function reshaped(lowering: Views, value: Value, shape: Shape): Value {
  const strides = viewStrides(value.desc, shape);
  if (strides) return lowering.view(value, shape, strides);
  const dense = contiguous(lowering, value);
  return lowering.view(dense, shape, reshapedStrides(dense.desc.shape, dense.desc.strides, shape));
}

/** Writes a value to another of the same shape, in the dtype of that one. */
export function copyTo(lowering: Pick<Lowering, 'map'>, from: Value, to: Value): void {
  lowering.map(input(0, exprType(from.desc.dtype)), [from], to);
}

/** The value itself when it is contiguous, else a contiguous copy. */
export function contiguous(lowering: Views, value: Value): Value {
  const { shape, strides, dtype } = value.desc;
  if (isContiguous(shape, strides)) return value;
  const copy = lowering.temporary(shape, dtype);
  copyTo(lowering, value, copy);
  return copy;
}
