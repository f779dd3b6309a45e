import { elementCount } from '@tilewise/core';
import { int64Type } from '../../file/element-type.ts';
import type { NodeCall, NodeResult } from '../../node-call.ts';
import { folded, hostTensor, type Value } from '../../value.ts';

/**
 * A result whose element i along a dimension is the element `source(i, axis)` of one input.
 * @throws InvalidOperationError if the input is empty and the result is not; InvalidShapeError for a negative
 * extent, or one with more indices than are computed while a model is read.
 */
export function gathered(
  call: NodeCall,
  value: Value,
  shape: readonly number[],
  source: (i: number, axis: number) => number,
): NodeResult {
  if (value.shape.includes(0) && elementCount(shape) > 0) call.fail('reads from an empty axis');
  const indices = shape.map((extent, axis) => hostTensor([extent], ([i]) => source(i, axis)));
  return moved(
    value,
    shape,
    index => index.map((i, d) => indices[d].values[i]),
    () =>
      indices.reduce((tensor, own, axis) => {
        const isWhole = shape[axis] === value.shape[axis] && own.values.every((i, n) => i === n);
        return isWhole ? tensor : call.draft.op('Take', [tensor, call.constant(own, int64Type)], { axis });
      }, value.tensor()),
  );
}

/** A result whose element at each index is the element of one input at another index. */
export function moved(
  value: Value,
  shape: readonly number[],
  place: (index: readonly number[]) => readonly number[],
  emit: NodeResult['emit'],
): NodeResult {
  const fold = folded([value], shape, read => index => read(place(index)));
  return { type: value.type, shape, emit, fold };
}
