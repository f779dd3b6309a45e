import { InvalidShapeError } from '@tilewise/core';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { contiguous, reshaped } from '../../ir/program/views.ts';
import { numberOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { port } from '../ports.ts';
import { copyTo } from './layout.ts';

const indices = port('indices', 'I', ['i32', 'u32']);

/** The rows of a table by their numbers: an embedding. */
export const gatherOperations: readonly Operation[] = [
  {
    kind: 'Gather',
    summary:
      'Row i of src, along its first dimension, for each i of indices, or the row nearest to it. Not an operation of oneDNN.',
    inputs: [port('src', 'T'), indices],
    outputs: [port('dst', 'T')],
    attributes: {},
    infer: ({ inputs: [src, at] }) => {
      if (src.shape?.length === 0) throw new InvalidShapeError('Gather', 'takes no scalar');
      return [src.shape && at.shape && [...at.shape, ...src.shape.slice(1)]];
    },
    gradient: ({ builder, inputs: [src, at], outputGradients: [dy] }) =>
      dy
        ? [
            () => builder.op('GatherBackward', [dy, builder.forward(at)], { rows: builder.shapeOf(src)[0] }),
            null,
          ]
        : [],
    lower: ({ map, inputs: [src, at], outputs: [dst] }) => {
      const rank = at.desc.shape.length;
      const own = at.desc.shape.map((_, d) => coordinate(d));
      const rest = src.desc.shape.slice(1).map((_, d) => coordinate(rank + d));
      map(inputAt(0, [inputAt(1, own, 'i32'), ...rest]), [src, at], dst);
    },
  },
  {
    kind: 'GatherBackward',
    summary:
      'The gradient by src of Gather: the sum, for each of `rows` rows, of the rows of diff_dst that were taken from it.',
    inputs: [port('diff_dst', 'T'), indices],
    outputs: [port('diff_src', 'T')],
    attributes: { rows: { type: 's64', required: true } },
    infer: ({ attributes, inputs: [dy, at] }) => [
      dy.shape && at.shape && [numberOf(attributes, 'rows'), ...dy.shape.slice(at.shape.length)],
    ],
    lower: lowering => {
      const [dy, at] = lowering.inputs;
      const [dst] = lowering.outputs;
      const count = at.desc.shape.reduce((n, extent) => n * extent, 1);
      const rows = dst.desc.shape[0];
      const width = dst.desc.shape.slice(1).reduce((n, extent) => n * extent, 1);
      const sums = lowering.temporary([rows, width]);
      lowering.scatterAdd(flat(lowering, at, [count]), flat(lowering, dy, [count, width]), sums);
      copyTo(lowering, reshaped(lowering, sums, dst.desc.shape), dst);
    },
  },
];

function flat(lowering: Lowering, value: Value, shape: readonly number[]): Value {
  return reshaped(lowering, contiguous(lowering, value), shape);
}
