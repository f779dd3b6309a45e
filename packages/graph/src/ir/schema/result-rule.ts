import type { LogicalTensor } from '../tensor/logical-tensor.ts';

/** The rule that a result has the dtype of an input, or is f32. */
export function resultRule(from: LogicalTensor, to: LogicalTensor, name: string): string | null {
  return to.dtype === from.dtype || to.dtype === 'f32'
    ? null
    : `output '${name}' must be ${from.dtype} or f32, got ${to.dtype}`;
}
