import { InvalidShapeError, type Shape, type TensorDesc } from '@tilewise/core';
import { reshapedStrides } from '@tilewise/core/engine';

/** The strides that give a tensor another shape without a copy; null if no strides do. */
export function viewStrides({ shape, strides }: TensorDesc, target: Shape): readonly number[] | null {
  try {
    return reshapedStrides(shape, strides, target);
  } catch (error) {
    if (error instanceof InvalidShapeError) return null;
    throw error;
  }
}
