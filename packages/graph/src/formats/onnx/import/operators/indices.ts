import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { NodeCall } from '../node-call.ts';
import { staticNumbers, type Value } from '../value.ts';
import { select } from './emit.ts';

/** A shape with another extent along an axis. */
export const withExtent = (shape: readonly number[], axis: number, extent: number): number[] =>
  shape.map((n, d) => (d === axis ? extent : n));

/** Indices counted from the start, checked where they are known. */
export function checkedIndices(call: NodeCall, n: number, extent: number): void {
  const wrong = staticNumbers(call.input(n))?.find(i => i < -extent || i >= extent);
  if (wrong !== undefined) call.fail(`reads index ${wrong} of ${extent} elements`);
}

/**
 * Negative indices count from the end of an axis: known ones are added to the extent, others are when the
 * graph runs.
 */
export function fromStart(call: NodeCall, value: Value, extent: number): LogicalTensor {
  const indices = value.tensor();
  if (staticNumbers(value)?.every(i => i >= 0)) return indices;
  const { draft } = call;
  const zero = draft.op('Constant', [], { value: [0] }, 'i32');
  const end = draft.op('Constant', [], { value: [extent] }, 'i32');
  const isNegative = draft.op('Less', [indices, zero], {}, 'bool');
  return select(draft, isNegative, draft.op('Add', [indices, end]), indices);
}
