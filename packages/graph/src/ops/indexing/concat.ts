import { lt, select, sub } from '@tilewise/core/expr';
import { coordinate, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { checkedAxis, refuse, withExtent } from '../../ir/tensor/shape.ts';
import { indexWith, slicedAlong } from './slice.ts';

export const concatSchemas = {
  Concat: {
    inputs: '...src:T=floats|i32|u32|bool',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', required: true } },
  },
  Split: {
    inputs: 'src:T=floats|i32|u32|bool',
    outputs: '...dst:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', required: true }, sizes: { type: 's64[]', required: true } },
  },
} as const;

/** The start of each part, and the end of the last part. */
function startsOf(sizes: readonly number[]): number[] {
  const starts = [0];
  for (const size of sizes) starts.push(starts[starts.length - 1] + size);
  return starts;
}

/** Operations that concatenate tensors along an axis, and split them again. */
export const concatOperations: readonly Operation[] = defineOperations(concatSchemas, {
  /** The tensors concatenated along an axis. */
  Concat: {
    constraint: ({ inputs }) => (inputs.length === 0 ? 'takes one tensor or more' : null),
    infer: ({ attributes: { axis }, inputs }) => {
      const shapes = inputs.map(({ shape }) => shape);
      const [first] = shapes;
      if (first === null || shapes.includes(null)) return [null];
      const d = checkedAxis(axis, first);
      const extents = shapes.map(shape => {
        const fits =
          shape?.length === first.length &&
          shape.every((n, e) => e === d || n === first[e] || n < 0 || first[e] < 0);
        if (!fits) refuse(`cannot join [${first}] and [${shape}] along axis ${axis}`);
        return shape?.[d] ?? -1;
      });
      return [withExtent(first, d, extents.includes(-1) ? -1 : extents.reduce((a, n) => a + n, 0))];
    },
    gradient: ({ builder, attributes: { axis }, inputs, dy }) => {
      const shapes = inputs.map((t: LogicalTensor) => builder.shapeOf(t));
      const d = checkedAxis(axis, shapes[0]);
      const starts = startsOf(shapes.map((shape: readonly number[]) => shape[d]));
      return shapes.map(
        (shape: readonly number[], n: number) => () =>
          builder.op('Slice', [dy], { axis: d, start: starts[n], size: shape[d] }),
      );
    },
    lower: ({ map, copy, temporary, inputs: [first, ...others], outputs: [dst] }, { attributes }) => {
      const { shape, dtype } = dst.desc;
      const d = checkedAxis(attributes.axis, shape);
      if (others.length === 0) copy(first, dst);
      // Joins two tensors at a time, because a device can bind only a few tensors at once.
      others.reduce((joined, next, n) => {
        const size = joined.desc.shape[d];
        const isLast = n === others.length - 1;
        const to = isLast ? dst : temporary(withExtent(shape, d, size + next.desc.shape[d]), dtype);
        const [a, b] = [coordinate(d), sub(coordinate(d), size)].map((at, m) =>
          inputAt(m, indexWith(shape.length, d, at), exprType(dtype)),
        );
        map(select(lt(coordinate(d), size), a, b), [joined, next], to);
        return to;
      }, first);
    },
  },
  /** src split along an axis into parts of the given sizes. */
  Split: {
    constraint: ({ attributes: { sizes }, outputs }) =>
      outputs.length === sizes.length
        ? null
        : `has ${sizes.length} outputs for sizes [${sizes}], got ${outputs.length}`,
    infer: ({ attributes: { axis, sizes }, inputs: [{ shape }] }) => {
      if (shape === null) return sizes.map(() => null);
      const d = checkedAxis(axis, shape);
      const sum = sizes.reduce((a, n) => a + n, 0);
      if (sizes.some(n => n < 0) || (shape[d] >= 0 && sum !== shape[d]))
        refuse(`into [${sizes}] does not add up to the ${shape[d]} elements of axis ${axis}`);
      return sizes.map(size => withExtent(shape, d, size));
    },
    gradient: ({ builder, attributes: { axis }, outputs, outputGradients, dy }) => {
      // The gradients of some 16-bit parts may be f32.
      const part = (t: LogicalTensor, n: number): LogicalTensor =>
        builder.cast(outputGradients[n] ?? builder.constant(0, dy.dtype, builder.shapeOf(t)), dy.dtype);
      return [() => builder.op('Concat', outputs.map(part), { axis })];
    },
    lower: ({ map, inputs: [src], outputs }, { attributes: { axis, sizes } }) => {
      const starts = startsOf(sizes);
      outputs.forEach((dst, n) => {
        map(slicedAlong(src, axis, starts[n]), [src], dst);
      });
    },
  },
});
