import { fillNormal } from '@tilewise/philox';
import type { DType } from '../src/tensor/dtype/dtype.ts';
import { elementCount } from '../src/tensor/shape.ts';
import { Tensor } from '../src/tensor/tensor.ts';

/** Normally distributed numbers, determined by `seed`. */
export function normal(shape: readonly number[], seed: number, dtype: DType = 'f32'): Tensor {
  return Tensor.from(fillNormal(new Float32Array(elementCount(shape)), { seed }), shape, { dtype });
}
