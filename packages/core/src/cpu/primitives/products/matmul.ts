import { elementCount } from '../../../tensor/shape.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';
import { copyBack, writable } from '../../operands/resident.ts';
import { runStep } from '../../steps/share-step.ts';
import type { KernelPrimitive } from '../kernel-primitive.ts';
import { type MatrixBatch, matrixBatch } from './matrix-batch.ts';
import { hasFewRows, runMatVec } from './matvec.ts';
import { matVecSteps } from './matvec-steps.ts';
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
  if (hasFewRows(inputs[1], output)) return prepareMatVec(product, inputs, output);
  const split = prepareSplitK(product, output);
  if (split) return split;
  return {
    run(kernels, operands, [c], team) {
      const { loops, matrices, memory } = kernels;
      if (!loops || !matrices) return false;
      memory.reset();
      const placed = placeProduct(kernels, loops, product, operands, c);
      runProduct(kernels, matrices, placed, team);
      if (!placed.target) copyBack(memory, c, placed.at);
      return true;
    },
    steps(kernels, operands, [c]) {
      if (!kernels.loops) return null;
      const step = stepOfProduct(kernels, placeProduct(kernels, kernels.loops, product, operands, c));
      return step && [step];
    },
  };
}

function prepareMatVec(
  product: MatrixBatch,
  inputs: readonly TensorDesc[],
  output: TensorDesc,
): KernelPrimitive {
  const stepsTo = matVecSteps(product, inputs, output);
  return {
    run(kernels, operands, [c], team) {
      const { loops, matrices, memory } = kernels;
      if (!matrices) return false;
      memory.reset();
      // `runMatVec` copies a matrix that is outside the memory of the kernels, a few lines at a time.
      if (team && loops && stepsTo && memory.addressOf(operands[1].data) >= 0) {
        const at = writable(memory, c);
        if (stepsTo(kernels, operands, at).every(step => runStep(kernels, step, team))) {
          copyBack(memory, c, at);
          return true;
        }
        memory.reset();
      }
      runMatVec(kernels, matrices, operands, c);
      return true;
    },
    steps: (kernels, operands, [c]) => stepsTo?.(kernels, operands, writable(kernels.memory, c)) ?? null,
  };
}
