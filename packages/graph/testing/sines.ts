import { elementCount, Tensor } from '@tilewise/core';

/** Numbers in [−1, 1] that look random and are the same in every run, f32. */
export function sines(shape: readonly number[], seed: number): Tensor {
  const values = Array.from({ length: elementCount(shape) }, (_, n) => Math.sin(seed + n * n));
  return Tensor.from(values, shape);
}
