import type { Fp8StepName } from '@tilewise/core';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { OpWriter } from '../op-writer.ts';

/** What happens around the products of attention: nothing but casts, or the steps of 8-bit arithmetic. */
export interface CompositeSteps {
  /** What is stored as an operand of products. */
  operand(tensor: LogicalTensor): LogicalTensor;
  /** What goes into a product or comes out of one, by its name in the FP8 contract. */
  apply(step: Fp8StepName, tensor: LogicalTensor): LogicalTensor;
  /** A result as it is stored. */
  stored(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** Attention on tensors as they are. */
export function plainSteps({ cast }: OpWriter): CompositeSteps {
  return { operand: t => t, apply: (_, t) => t, stored: cast };
}
