import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { Draft } from '../../draft.ts';
import type { NodeCall } from '../../node-call.ts';
import { staticNumbers, type Value } from '../../value.ts';

/** Checks the indices in a node's second input, if they are known. */
export function checkedIndices(call: NodeCall, extent: number): void {
  const wrong = staticNumbers(call.input(1))?.find(i => i < -extent || i >= extent);
  if (wrong !== undefined) call.fail(`reads index ${wrong} of ${extent} elements`);
}

/**
 * Converts negative indices, which count from the end of an axis, to indices from its start: known indices
 * now, others when the graph runs.
 */
export function fromStart(call: NodeCall, value: Value, extent: number): LogicalTensor {
  const indices = value.tensor();
  if (staticNumbers(value)?.every(i => i >= 0)) return indices;
  return countedFromStart(call.draft, indices, extent);
}

/** Adds operations that convert negative indices, which count from the end, to indices from the start. */
function countedFromStart(draft: Draft, indices: LogicalTensor, extent: number): LogicalTensor {
  const isNegative = draft.test('Less', indices, draft.scalar(0, 'i32'));
  return draft.select(isNegative, draft.op('Add', [indices, draft.scalar(extent, 'i32')]), indices);
}

/**
 * The row numbers of indices (…, depth) into the first dimensions, in row-major order of these dimensions;
 * null if the indices are not known before the graph runs.
 * @param numbers the numbers of the indices, if they are known.
 */
export function staticRows(
  call: NodeCall,
  at: Value,
  outer: readonly number[],
  numbers: ArrayLike<number> | null = staticNumbers(at),
): number[] | null {
  if (!numbers) return null;
  const places = elementCount(at.shape.slice(0, -1));
  return Array.from({ length: places }, (_, n) =>
    outer.reduce((row, extent, d) => {
      const i = numbers[n * outer.length + d];
      if (i < -extent || i >= extent) call.fail(`has index ${i} of ${extent} elements`);
      return row * extent + (i < 0 ? i + extent : i);
    }, 0),
  );
}

/** Computes `staticRows` when the graph runs: i32 (…). */
export function rowsOf(call: NodeCall, at: Value, outer: readonly number[]): LogicalTensor {
  const { draft } = call;
  const last = at.shape.length - 1;
  const indices = at.tensor();
  const own = outer.map((extent, d) =>
    countedFromStart(draft, draft.slice(indices, { axis: last, start: d, size: 1 }), extent),
  );
  const rows = own.reduce<LogicalTensor | null>((row, column, d) => {
    if (!row) return column;
    const scaled = draft.op('Multiply', [row, draft.scalar(outer[d], 'i32')]);
    return draft.op('Add', [scaled, column]);
  }, null);
  return rows ?? call.refuse('has indices without dimensions');
}
