import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { NodeCall } from '../../node-call.ts';

/** A tensor plus the bias in input n, if the node has one. */
export function withBias(call: NodeCall, tensor: LogicalTensor, n: number): LogicalTensor {
  const bias = call.optional(n);
  return bias ? call.draft.op('Add', [tensor, bias.tensor()]) : tensor;
}
