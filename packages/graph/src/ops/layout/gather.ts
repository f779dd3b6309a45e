import { elementCount, InvalidShapeError } from '@tilewise/core';
import { and, ge, lt } from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { orNaN } from '../elementwise/numeric.ts';

export const gatherSchemas = {
  Gather: { inputs: 'src:T indices:I=i32|u32', outputs: 'dst:T', attributes: {} },
  GatherBackward: {
    inputs: 'diff_dst:T indices:I=i32|u32',
    outputs: 'diff_src:T',
    attributes: { rows: { type: 's64', required: true } },
  },
} as const;

/** The rows of a table by their indices: an embedding. */
export const gatherOperations: readonly Operation[] = defineOperations(gatherSchemas, {
  Gather: {
    summary:
      'Row i of src, along the first dimension, for each i of indices; NaN for an index outside src. Not an operation of oneDNN.',
    infer: ({ inputs: [src, indices] }) => {
      if (src.shape?.length === 0) throw new InvalidShapeError('Gather', 'takes no scalar');
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
  GatherBackward: {
    summary:
      'The gradient by src of Gather: for each of `rows` rows, the sum of the rows of diff_dst that were taken from it. Indices outside add nothing.',
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
});
