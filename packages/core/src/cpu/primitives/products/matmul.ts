import { elementCount } from '../../../tensor/shape.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';
import type { OnKernels } from '../on-kernels.ts';
import { matrixBatch } from './matrix-batch.ts';
import { hasFewRows, runMatVec } from './matvec.ts';
import { placeProduct, runProduct, stepOfProduct } from './placed-product.ts';

/**
 * Prepares C = A·B in f32: A (…, M, K), B (…, K, N) and C (…, M, N) of any strides, with the leading
 * dimensions of A and B broadcast to those of C. f32 tensors with contiguous lines are used in place. Null if
 * K is 0, because the kernels need at least one product per sum, and if C is empty.
 */
export function prepareMatMul(inputs: readonly TensorDesc[], output: TensorDesc): OnKernels | null {
  const product = matrixBatch(inputs, output);
  if (product.k === 0 || elementCount(output.shape) === 0) return null;
  const isMatVec = hasFewRows(inputs[1], output);
  return {
    run(kernels, operands, [c], team) {
      const { loops, matrices, memory } = kernels;
      if (!loops || !matrices) return false;
      memory.reset();
      if (isMatVec) runMatVec(kernels, matrices, operands, c);
      else runProduct(kernels, matrices, placeProduct(kernels, loops, product, operands, c), team);
      return true;
    },
    steps(kernels, operands, [c]) {
      if (!kernels.loops || isMatVec) return null;
      const step = stepOfProduct(kernels, placeProduct(kernels, kernels.loops, product, operands, c));
      return step && [step];
    },
  };
}
