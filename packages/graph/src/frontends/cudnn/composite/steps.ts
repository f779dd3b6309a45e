import type { Fp8StepName } from '@tilewise/core';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { OpWriter } from '../op-writer.ts';

/** The steps around the products of attention: casts, or the steps of FP8. */
export interface CompositeSteps {
  /** A stored tensor as an operand of products. */
  operand(tensor: LogicalTensor): LogicalTensor;
  /** Applies a step of the FP8 contract to an operand or a result of a product. */
  apply(step: Fp8StepName, tensor: LogicalTensor): LogicalTensor;
  /** A result in its stored dtype. */
  stored(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** The steps of attention without FP8. */
export function plainSteps({ cast }: OpWriter): CompositeSteps {
  return { operand: t => t, apply: (_, t) => t, stored: cast };
}
