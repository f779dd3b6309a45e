import { int64Type } from '../../file/element-type.ts';
import type { NodeCall, NodeResult } from '../../node-call.ts';
import { folded, type Value } from '../../value.ts';

/** A result with the elements of one input at the given indices along each dimension. */
export function gathered(
  { draft, constant }: NodeCall,
  value: Value,
  indices: readonly (readonly number[])[],
): NodeResult {
  const shape = indices.map(({ length }) => length);
  return moved(
    value,
    shape,
    index => index.map((i, d) => indices[d][i]),
    () =>
      indices.reduce((tensor, own, axis) => {
        if (own.length === value.shape[axis] && own.every((i, n) => i === n)) return tensor;
        return draft.op('Take', [tensor, constant({ shape: [own.length], values: own }, int64Type)], {
          axis,
        });
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
