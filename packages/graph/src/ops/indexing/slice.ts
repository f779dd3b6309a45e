import { InvalidShapeError } from '@tilewise/core';
import { add, and, eq, floorDiv, ge, lt, mod, mul, type NumericExpr, select, sub } from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { checkedAxis, withExtent } from '../../ir/tensor/shape.ts';

export const sliceSchemas = {
  Slice: {
    inputs: 'src:T=floats|i32|u32|bool',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: {
      axis: { type: 's64', required: true },
      start: { type: 's64', default: 0 },
      size: { type: 's64', required: true },
      step: { type: 's64', default: 1 },
    },
  },
  SliceBackward: {
    inputs: 'diff_dst:T',
    outputs: 'diff_src:T',
    attributes: {
      axis: { type: 's64', required: true },
      start: { type: 's64', default: 0 },
      extent: { type: 's64', required: true },
      step: { type: 's64', default: 1 },
    },
  },
  Pad: {
    inputs: 'src:T',
    outputs: 'dst:T',
    attributes: {
      before: { type: 's64[]', required: true },
      after: { type: 's64[]', required: true },
      value: { type: 'f32', default: 0 },
    },
  },
  TensorScatter: {
    inputs: 'past:T=floats|i32|u32|bool update:T=floats|i32|u32|bool first:I=i32|u32',
    outputs: 'present:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', default: -2 } },
  },
} as const;

/** The index of the computed element, with `index` in place of its coordinate along an axis. */
export function indexWith(rank: number, axis: number, index: NumericExpr): NumericExpr[] {
  return Array.from({ length: rank }, (_, d) => (d === axis ? index : coordinate(d)));
}

/**
 * Operations that take parts of tensors, or place tensors in larger ones, such as new keys and values in a
 * cache.
 */
export const sliceOperations: readonly Operation[] = defineOperations(sliceSchemas, {
  Slice: {
    summary: 'The `size` elements start, start + step, … along an axis. Not an operation of oneDNN.',
    infer: ({ attributes: { axis, start, size, step }, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      const d = checkedAxis('Slice', axis, shape);
      const last = start + (size - 1) * step;
      const fits =
        size >= 0 &&
        step !== 0 &&
        start >= 0 &&
        (size === 0 || (last >= 0 && Math.max(start, last) < shape[d]));
      if (!fits && shape[d] >= 0) {
        throw new InvalidShapeError(
          'Slice',
          `of ${size} elements from ${start} with step ${step} does not fit the ${shape[d]} elements along axis ${axis}`,
        );
      }
      return [withExtent(shape, d, size)];
    },
    gradient: ({ builder, attributes: { axis, start, step }, inputs: [src], dy }) => {
      const shape = builder.shapeOf(src);
      const extent = shape[checkedAxis('Slice', axis, shape)];
      return [() => builder.op('SliceBackward', [dy], { axis, start, step, extent })];
    },
    lower: ({ map, inputs: [src], outputs: [dst] }, { attributes: { axis, start, step } }) => {
      const { shape, dtype } = src.desc;
      const d = checkedAxis('Slice', axis, shape);
      map(
        inputAt(0, indexWith(shape.length, d, add(mul(coordinate(d), step), start)), exprType(dtype)),
        [src],
        dst,
      );
    },
  },
  SliceBackward: {
    summary:
      'The gradient of Slice with respect to src: diff_dst for the elements in the slice, 0 for the others. `extent` is the extent of src along the axis.',
    infer: ({ attributes: { axis, extent }, inputs: [{ shape }] }) => [
      shape && withExtent(shape, checkedAxis('SliceBackward', axis, shape), extent),
    ],
    gradient: ({ builder, attributes: { axis, start, step }, inputs: [dy], dy: ddx }) => {
      const shape = builder.shapeOf(dy);
      const size = shape[checkedAxis('SliceBackward', axis, shape)];
      return [() => builder.op('Slice', [ddx], { axis, start, step, size })];
    },
    lower: ({ map, inputs: [dy], outputs: [dx] }, { attributes: { axis, start, step } }) => {
      const { shape } = dy.desc;
      const d = checkedAxis('SliceBackward', axis, shape);
      const distance = step < 0 ? sub(start, coordinate(d)) : sub(coordinate(d), start);
      const index = floorDiv(distance, Math.abs(step));
      const isTaken = and(ge(index, 0), lt(index, shape[d]), eq(mod(distance, Math.abs(step)), 0));
      map(select(isTaken, inputAt(0, indexWith(shape.length, d, index)), 0), [dy], dx);
    },
  },
  Pad: {
    summary:
      'src padded with a value: `before` and `after` give the number of added elements on each side of each dimension. Not an operation of oneDNN.',
    infer: ({ attributes: { before, after }, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      if (
        before.length !== shape.length ||
        after.length !== shape.length ||
        [...before, ...after].some(n => n < 0)
      ) {
        throw new InvalidShapeError(
          'Pad',
          `needs counts ≥ 0 for each dimension of [${shape}], got [${before}] and [${after}]`,
        );
      }
      return [shape.map((n, d) => before[d] + n + after[d])];
    },
    gradient: ({ builder, attributes: { before }, inputs: [src], dy }) => {
      const slice = (part: typeof dy, size: number, axis: number): typeof dy =>
        builder.op('Slice', [part], { axis, start: before[axis], size });
      return [() => builder.shapeOf(src).reduce(slice, dy)];
    },
    lower: ({ map, inputs: [src], outputs: [dst] }, { attributes: { before, value } }) => {
      const { shape } = src.desc;
      const index = shape.map((_, d) => sub(coordinate(d), before[d]));
      const isInside = and(...index.flatMap((i, d) => [ge(i, 0), lt(i, shape[d])]));
      map(select(isInside, inputAt(0, index), value), [src], dst);
    },
  },
  TensorScatter: {
    summary:
      'past with update written into it along an axis: entry b of the first dimension starts at element first[b]. Elements that would be outside past are dropped. If present is bound to the memory of past, only update is written, so that a cache grows in place. ONNX has this operation under the same name; oneDNN does not.',
    infer: ({ attributes: { axis }, inputs: [past, update, first] }) => {
      const { shape } = past;
      if (shape === null || update.shape === null || first.shape === null) return [shape];
      const d = checkedAxis('TensorScatter', axis, shape);
      const count = update.shape[d];
      const fits =
        d > 0 && `${update.shape}` === `${withExtent(shape, d, count)}` && `${first.shape}` === `${shape[0]}`;
      if (!fits || count > shape[d]) {
        throw new InvalidShapeError(
          'TensorScatter',
          `cannot write [${update.shape}] into [${shape}] along axis ${axis} with first of shape [${first.shape}]`,
        );
      }
      return [shape];
    },
    gradient: ({ builder, attributes: { axis }, inputs: [past, update, first], dy }) => {
      const shape = builder.shapeOf(update);
      const d = checkedAxis('TensorScatter', axis, builder.shapeOf(past));
      const at = builder.forward(first);
      const byPast = (): typeof dy =>
        builder.op('TensorScatter', [dy, builder.constant(0, dy.dtype, shape), at], { axis });
      const byUpdate = (): typeof dy => {
        const own = builder.op('GenIndex', [builder.forward(update)], { axis: d }, { dtype: 'i32' });
        const begin = builder.reshape(builder.cast(at, 'i32'), [shape[0], ...shape.slice(1).map(() => 1)]);
        const places = builder.op('Add', [own, begin]);
        return builder.op('GatherElements', [dy, places], { axis });
      };
      return [byPast, byUpdate, null];
    },
    inPlace: true,
    lower: ({ copy, tensorScatter, inputs: [past, update, first], outputs: [present] }, { attributes }) => {
      copy(past, present);
      tensorScatter(checkedAxis('TensorScatter', attributes.axis, past.desc.shape), update, first, present);
    },
  },
});
