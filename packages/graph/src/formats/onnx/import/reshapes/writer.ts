import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { operationOf } from '../../../../ops/table.ts';

/** Adds operations to the graph. */
export interface Writer {
  producerOf(
    tensor: LogicalTensor,
  ): { readonly kind: string; readonly inputs: readonly LogicalTensor[] } | undefined;
  op(kind: string, inputs: readonly LogicalTensor[], given: Attributes): LogicalTensor;
  /** The elements of a tensor in row-major order with another shape. */
  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor;
}

/** An operation on reshaped tensors that is rewritten as an operation on the tensors before the reshape. */
export interface RewrittenOperation {
  readonly inputs: readonly LogicalTensor[];
  readonly given: Attributes;
  /** The result of the original operation, from that of the rewritten operation. */
  readonly after: (result: LogicalTensor) => LogicalTensor;
}

/** The tensor that a reshape changed to this one; undefined for the result of any other operation. */
export function beforeReshape(draft: Writer, tensor: LogicalTensor): LogicalTensor | undefined {
  const node = draft.producerOf(tensor);
  return node?.kind === 'StaticReshape' ? node.inputs[0] : undefined;
}

export const isElementwise = (kind: string): boolean =>
  operationOf(kind)?.element !== undefined || kind === 'TypeCast';
