import { elementCount } from '../../../tensor/shape.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';
import { copyBack } from '../../operands/resident.ts';
import type { KernelPrimitive } from '../kernel-primitive.ts';
import { matrixBatch } from './matrix-batch.ts';
import { hasFewRows, runMatVec } from './matvec.ts';
import { placeProduct, runProduct, stepOfProduct } from './placed-product.ts';
import { prepareSplitK } from './split-k.ts';

/**
 * Prepares C = A·B in f32: A (…, M, K), B (…, K, N) and C (…, M, N) of any strides, with the leading
 * dimensions of A and B broadcast to those of C. f32 tensors with contiguous lines are used in place. Null if
 * K is 0, because the kernels need at least one product per sum, and if C is empty.
 */
export function prepareMatMul(inputs: readonly TensorDesc[], output: TensorDesc): KernelPrimitive | null {
  const product = matrixBatch(inputs, output);
  if (product.k === 0 || elementCount(output.shape) === 0) return null;
  const isMatVec = hasFewRows(inputs[1], output);
  const split = isMatVec ? null : prepareSplitK(product, output);
  if (split) return split;
  return {
    run(kernels, operands, [c], team) {
      const { loops, matrices, memory } = kernels;
      if (!loops || !matrices) return false;
      memory.reset();
      if (isMatVec) runMatVec(kernels, matrices, operands, c);
      else {
        const placed = placeProduct(kernels, loops, product, operands, c);
        runProduct(kernels, matrices, placed, team);
        if (!placed.target) copyBack(memory, c, placed.at);
      }
      return true;
    },
    steps(kernels, operands, [c]) {
      if (!kernels.loops || isMatVec) return null;
      const step = stepOfProduct(kernels, placeProduct(kernels, kernels.loops, product, operands, c));
      return step && [step];
    },
  };
}
