import { elementCount } from '@tilewise/core';
import { add, and, ge, lt, select } from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { GradientCall, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { checkedAxis, refuse } from '../../ir/tensor/shape.ts';
import { orNaN } from '../elementwise/numeric.ts';

export const gatherSchemas = {
  Gather: { inputs: 'src:T indices:I=i32|u32', outputs: 'dst:T', attributes: {} },
  GatherBackward: {
    inputs: 'diff_dst:T indices:I=i32|u32',
    outputs: 'diff_src:T',
    attributes: { rows: { type: 's64', required: true } },
  },
  Take: {
    inputs: 'src:T=floats|i32|u32|bool indices:I=i32|u32',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', default: 0 } },
  },
} as const;

/**
 * Operations that look up rows of a table by index, as an embedding does, or slices of a tensor, like
 * `numpy.take`.
 */
export const gatherOperations: readonly Operation[] = defineOperations(gatherSchemas, {
  /**
   * Row i of src, along the first dimension, for each index i; NaN for an index outside src. Not an operation
   * of oneDNN.
   */
  Gather: {
    infer: ({ inputs: [src, indices] }) => {
      if (src.shape) checkedAxis(0, src.shape);
      return [src.shape && indices.shape && [...indices.shape, ...src.shape.slice(1)]];
    },
    gradient: ({ builder, inputs: [src, indices], dy }) => {
      const rows = builder.shapeOf(src)[0];
      return [() => builder.op('GatherBackward', [dy, builder.forward(indices)], { rows }), null];
    },
    lower: ({ map, inputs: [src, indices], outputs: [dst] }) => {
      const [rows, ...row] = src.desc.shape;
      const rank = indices.desc.shape.length;
      const place = indices.desc.shape.map((_, d) => coordinate(d));
      const index = inputAt(1, place, 'i32');
      const element = inputAt(0, [index, ...row.map((_, d) => coordinate(rank + d))]);
      const isInside = and(ge(index, 0), lt(index, rows));
      map(orNaN(isInside, element), [src, indices], dst);
    },
  },
  /**
   * The gradient of Gather with respect to src: for each of `rows` rows, the sum of the rows of diff_dst
   * whose index names it. Indices outside src add nothing.
   */
  GatherBackward: {
    infer: ({ attributes: { rows }, inputs: [dy, indices] }) => [
      dy.shape && indices.shape && [rows, ...dy.shape.slice(indices.shape.length)],
    ],
    lower: ({ temporary, reshaped, contiguous, scatterAdd, copy, inputs: [dy, indices], outputs: [dst] }) => {
      const [rows, ...row] = dst.desc.shape;
      const [count, width] = [elementCount(indices.desc.shape), elementCount(row)];
      const sums = temporary([rows, width]);
      scatterAdd(reshaped(contiguous(indices), [count]), reshaped(contiguous(dy), [count, width]), sums);
      copy(reshaped(sums, dst.desc.shape), dst);
    },
  },
  /**
   * The slices of src at `indices` along an axis. The dimensions of indices replace the axis. Negative
   * indices count from the end; an index outside the axis reads the nearest slice and has no gradient. Not an
   * operation of oneDNN.
   */
  Take: {
    infer: ({ attributes: { axis }, inputs: [{ shape }, indices] }) => {
      if (shape === null || indices.shape === null) return [null];
      const d = checkedAxis(axis, shape);
      const result = [...shape.slice(0, d), ...indices.shape, ...shape.slice(d + 1)];
      if (shape[d] === 0 && result.every(n => n > 0))
        refuse(`cannot read from axis ${axis} of [${shape}], which is empty`);
      return [result];
    },
    gradient: call => [() => takeGradient(call), null],
    lower: ({ map, inputs: [src, indices], outputs: [dst] }, { attributes: { axis } }) => {
      const { shape, dtype } = src.desc;
      const d = checkedAxis(axis, shape);
      const rank = indices.desc.shape.length;
      const place = indices.desc.shape.map((_, e) => coordinate(d + e));
      const given = inputAt(1, place, 'i32');
      const index = select(lt(given, 0), add(given, shape[d]), given);
      const at = shape.map((_, e) => (e === d ? index : coordinate(e < d ? e : e + rank - 1)));
      map(inputAt(0, at, exprType(dtype)), [src, indices], dst);
    },
  },
});

/**
 * The gradient of Take: for each slice, the sum of the gradients of the results that read it. The axis is
 * moved to the front so that slices are rows, and back afterwards.
 */
function takeGradient(call: GradientCall<{ readonly axis: number }>): LogicalTensor {
  const { builder, attributes, inputs, dy } = call;
  const [src, indices] = inputs;
  const shape = builder.shapeOf(src);
  const d = checkedAxis(attributes.axis, shape);
  const [before, after] = [elementCount(shape.slice(0, d)), elementCount(shape.slice(d + 1))];
  const count = elementCount(builder.shapeOf(indices));
  const rows = shape[d];
  const swapped = (t: LogicalTensor): LogicalTensor =>
    builder.op('StaticTranspose', [t], { order: [1, 0, 2] });
  const at = builder.cast(builder.reshape(builder.forward(indices), [count]), 'i32');
  const isNegative = builder.op('Less', [at, builder.constant(0, 'i32')], {}, { dtype: 'bool' });
  const fromEnd = builder.op('Add', [at, builder.constant(rows, 'i32')]);
  const own = builder.op('Where', [isNegative, fromEnd, at], {}, { dtype: 'i32' });
  const parts = swapped(builder.reshape(dy, [before, count, after]));
  return builder.reshape(swapped(builder.op('GatherBackward', [parts, own], { rows })), shape);
}
