import {
  add,
  and,
  type Expr,
  eq,
  floorDiv,
  ge,
  lt,
  mod,
  mul,
  type NumericExpr,
  select,
  sub,
} from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { type LogicalShape, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { checkedAxis, refuse, withExtent } from '../../ir/tensor/shape.ts';

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
} as const;

/** The index of the computed element, with `index` in place of its coordinate along an axis. */
export function indexWith(rank: number, axis: number, index: NumericExpr): NumericExpr[] {
  return Array.from({ length: rank }, (_, d) => (d === axis ? index : coordinate(d)));
}

/** The elements start, start + step, … of input 0 along an axis. */
export function slicedAlong({ desc: { shape, dtype } }: Value, axis: number, start: number, step = 1): Expr {
  const d = checkedAxis(axis, shape);
  return inputAt(0, indexWith(shape.length, d, add(mul(coordinate(d), step), start)), exprType(dtype));
}

/** The attributes of Slice, which has a size, and of its gradient, which has the extent of the axis. */
interface SliceAttributes {
  readonly axis: number;
  readonly start: number;
  readonly step: number;
  readonly size?: number;
  readonly extent?: number;
}

/** The shape of a slice, or of the gradient of its src. Refuses elements outside the axis. */
function inferSlice(attributes: SliceAttributes, shape: LogicalShape): LogicalShape {
  if (shape === null) return null;
  const { axis, start, step } = attributes;
  const d = checkedAxis(axis, shape);
  const { size = shape[d], extent = shape[d] } = attributes;
  const ends = size === 0 ? [] : [start, start + (size - 1) * step];
  const fits = size >= 0 && step !== 0 && ends.every(n => n >= 0 && n < extent);
  if (!fits && shape[d] !== UNKNOWN)
    refuse(
      `of ${size} elements from ${start} with step ${step} does not fit the ${extent} elements along axis ${axis}`,
    );
  return withExtent(shape, d, attributes.extent ?? size);
}

/** Operations that take parts of tensors, or place tensors in larger ones. */
export const sliceOperations: readonly Operation[] = defineOperations(sliceSchemas, {
  /** The `size` elements start, start + step, … along an axis. Not an operation of oneDNN. */
  Slice: {
    infer: ({ attributes, inputs: [{ shape }] }) => [inferSlice(attributes, shape)],
    gradient: ({ builder, attributes: { axis, start, step }, inputs: [src], dy }) => {
      const shape = builder.shapeOf(src);
      const extent = shape[checkedAxis(axis, shape)];
      return [() => builder.op('SliceBackward', [dy], { axis, start, step, extent })];
    },
    lower: ({ map, inputs: [src], outputs: [dst] }, { attributes: { axis, start, step } }) =>
      map(slicedAlong(src, axis, start, step), [src], dst),
  },
  /**
   * The gradient of Slice with respect to src: diff_dst for the elements in the slice, 0 for the others.
   * `extent` is the extent of src along the axis.
   */
  SliceBackward: {
    infer: ({ attributes, inputs: [{ shape }] }) => [inferSlice(attributes, shape)],
    gradient: ({ builder, attributes: { axis, start, step }, inputs: [dy], dy: ddx }) => {
      const shape = builder.shapeOf(dy);
      const size = shape[checkedAxis(axis, shape)];
      return [() => builder.op('Slice', [ddx], { axis, start, step, size })];
    },
    lower: ({ map, inputs: [dy], outputs: [dx] }, { attributes: { axis, start, step } }) => {
      const { shape } = dy.desc;
      const d = checkedAxis(axis, shape);
      const distance = sub(coordinate(d), start);
      const index = floorDiv(distance, step);
      const isTaken = and(ge(index, 0), lt(index, shape[d]), eq(mod(distance, step), 0));
      map(select(isTaken, inputAt(0, indexWith(shape.length, d, index)), 0), [dy], dx);
    },
  },
  /**
   * src padded with a value: `before` and `after` give the number of added elements on each side of each
   * dimension. Not an operation of oneDNN.
   */
  Pad: {
    infer: ({ attributes: { before, after }, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      if ([before, after].some(counts => counts.length !== shape.length || counts.some(n => n < 0)))
        refuse(`needs counts ≥ 0 for each dimension of [${shape}], got [${before}] and [${after}]`);
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
});
