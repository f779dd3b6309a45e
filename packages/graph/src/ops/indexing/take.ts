import { elementCount } from '@tilewise/core';
import { add, lt, select } from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { GradientBuilder, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { checkedAxis } from './slice.ts';

export const takeSchemas = {
  Take: {
    inputs: 'src:T=floats|i32|u32|bool indices:I=i32|u32',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', default: 0 } },
  },
} as const;

/** Slices of a tensor by their indices, as `numpy.take` has it. */
export const takeOperations: readonly Operation[] = defineOperations(takeSchemas, {
  Take: {
    summary:
      'The slices of src along an axis with the indices of `indices`, whose dimensions take the place of the axis. Negative indices count from the end; those outside are those of the nearest slice. Not an operation of oneDNN.',
    infer: ({ attributes: { axis }, inputs: [{ shape }, indices] }) => {
      if (shape === null || indices.shape === null) return [null];
      const d = checkedAxis('Take', axis, shape);
      return [[...shape.slice(0, d), ...indices.shape, ...shape.slice(d + 1)]];
    },
    gradient: ({ builder, attributes: { axis }, inputs: [src, indices], dy }) => [
      () => takeGradient(builder, axis, src, indices, dy),
      null,
    ],
    lower: ({ map, inputs: [src, indices], outputs: [dst] }, { attributes: { axis } }) => {
      const { shape, dtype } = src.desc;
      const d = checkedAxis('Take', axis, shape);
      const rank = indices.desc.shape.length;
      const place = indices.desc.shape.map((_, e) => coordinate(d + e));
      const given = inputAt(1, place, 'i32');
      const index = select(lt(given, 0), add(given, shape[d]), given);
      const at = shape.map((_, e) => (e === d ? index : coordinate(e < d ? e : e + rank - 1)));
      map(inputAt(0, at, exprType(dtype)), [src, indices], dst);
    },
  },
});

/** The sum of what each slice was taken for: as rows, the axis being moved to the front and back. */
function takeGradient(
  builder: GradientBuilder,
  axis: number,
  src: LogicalTensor,
  indices: LogicalTensor,
  dy: LogicalTensor,
): LogicalTensor {
  const shape = builder.shapeOf(src);
  const d = checkedAxis('Take', axis, shape);
  const [before, after] = [elementCount(shape.slice(0, d)), elementCount(shape.slice(d + 1))];
  const count = elementCount(builder.shapeOf(indices));
  const rows = shape[d];
  const swapped = (t: LogicalTensor): LogicalTensor =>
    builder.op('StaticTranspose', [t], { order: [1, 0, 2] });
  const at = builder.reshape(builder.forward(indices), [count]);
  const isNegative = builder.op('Less', [at, builder.constant(0, 'i32')], {}, { dtype: 'bool' });
  const fromEnd = builder.op('Add', [at, builder.constant(rows, 'i32')]);
  const own = builder.op('Where', [isNegative, fromEnd, at], {}, { dtype: 'i32' });
  const parts = swapped(builder.reshape(dy, [before, count, after]));
  return builder.reshape(swapped(builder.op('GatherBackward', [parts, own], { rows })), shape);
}
