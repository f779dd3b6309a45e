import { and, constant, eq, ge, gt, lt, type NumericExpr, or, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { checkedAxis, refuse, withExtent } from '../../ir/tensor/shape.ts';
import { scattered } from '../indexing/gather-elements.ts';
import { indexWith } from '../indexing/slice.ts';

export const orderSchemas = {
  ArgMax: {
    inputs: 'src:T',
    outputs: 'dst:I=i32',
    attributes: { axis: { type: 's64', default: -1 }, keep_dims: { type: 'bool', default: false } },
  },
  TopK: {
    inputs: 'src:T',
    outputs: 'values:T indices:I=i32',
    attributes: { axis: { type: 's64', default: -1 }, k: { type: 's64', required: true } },
  },
  CumSum: {
    inputs: 'src:T',
    outputs: 'dst:T',
    attributes: {
      axis: { type: 's64', default: -1 },
      exclusive: { type: 'bool', default: false },
      reverse: { type: 'bool', default: false },
    },
  },
} as const;

/**
 * The element along an axis that follows element `before` in descending order (or, without `before`, the
 * largest), and its index. Both have an extent of 1 along the axis.
 */
function largestAfter(
  reduced: Lowering['reduced'],
  src: Value,
  axis: number,
  before: readonly [value: Value, index: Value] | null,
): readonly [value: Value, index: Value] {
  const domain = src.desc.shape;
  const at = coordinate(axis);
  const inputs = [src, ...(before ?? [])];
  const isLater = before
    ? or(lt(input(0), input(1)), and(eq(input(0), input(1)), gt(at, input(2, 'i32'))))
    : constant(true);
  const element = select(isLater, input(0), -Infinity);
  const value = reduced(inputs, { op: 'max', axes: [axis], domain, element, dtype: src.desc.dtype });
  const n = inputs.length;
  const isLargest = and(isLater, eq(input(0), input(n)));
  // If no element matches, for example because all are NaN, the last index is used.
  const last = domain[axis] - 1;
  const place: NumericExpr = select(isLargest, at, constant(last, 'i32'));
  const rest = [...inputs, value];
  return [value, reduced(rest, { op: 'min', axes: [axis], domain, element: place, dtype: 'i32' })];
}

/**
 * Operations that depend on the order of elements along an axis: the largest elements, and cumulative sums.
 */
export const orderOperations: readonly Operation[] = defineOperations(orderSchemas, {
  /**
   * The index of the largest element along an axis; of equal elements, the first. Not an operation of oneDNN.
   */
  ArgMax: {
    gradient: 'zero',
    infer: ({ attributes: { axis, keep_dims }, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      const d = checkedAxis(axis, shape);
      return [keep_dims ? withExtent(shape, d, 1) : shape.filter((_, e) => e !== d)];
    },
    lower: ({ copy, reshaped, reduced, inputs: [src], outputs: [dst] }, { attributes: { axis } }) => {
      const [, index] = largestAfter(reduced, src, checkedAxis(axis, src.desc.shape), null);
      copy(reshaped(index, dst.desc.shape), dst);
    },
  },
  /**
   * The k largest elements along an axis in descending order, and their indices; equal elements keep their
   * order. Takes k passes. Not an operation of oneDNN.
   */
  TopK: {
    infer: ({ attributes: { axis, k }, inputs: [{ shape }] }) => {
      if (shape === null) return [null, null];
      const d = checkedAxis(axis, shape);
      if (k < 0 || (shape[d] >= 0 && k > shape[d]))
        refuse(`k must be 0 to ${shape[d]}, the elements along axis ${axis}, got ${k}`);
      return [withExtent(shape, d, k), withExtent(shape, d, k)];
    },
    gradient: ({
      builder,
      attributes: { axis },
      inputs: [src],
      outputs: [, indices],
      outputGradients: [dy],
    }) => {
      return dy ? [() => scattered(builder, dy, indices, axis, src)] : [];
    },
    lower: ({ map, reduced, temporary, inputs: [src], outputs: [values, indices] }, { attributes }) => {
      const { axis, k } = attributes;
      const d = checkedAxis(axis, src.desc.shape);
      if (k === 0) return;
      const found: (readonly [Value, Value])[] = [];
      for (let n = 0; n < k; n++) found.push(largestAfter(reduced, src, d, found.at(-1) ?? null));
      const join = (column: 0 | 1, to: Value, type: 'f32' | 'i32'): void => {
        found.reduce((before, pair, n) => {
          const target = n === k - 1 ? to : temporary(to.desc.shape, to.desc.dtype);
          const value =
            n === 0 ? input(1, type) : select(eq(coordinate(d), n), input(1, type), input(0, type));
          map(value, [before, pair[column]], target);
          return target;
        }, found[0][column]);
      };
      join(0, values, 'f32');
      join(1, indices, 'i32');
    },
  },
  /**
   * The cumulative sums along an axis: of the elements up to each element, or, with `reverse`, from each
   * element on. `exclusive` leaves out the element itself. Takes n² additions. Not an operation of oneDNN.
   */
  CumSum: {
    infer: ({ attributes: { axis }, inputs: [{ shape }] }) => {
      if (shape) checkedAxis(axis, shape);
      return [shape];
    },
    gradient: ({ builder, attributes: { axis, exclusive, reverse }, dy }) => [
      () => builder.op('CumSum', [dy], { axis, exclusive, reverse: !reverse }),
    ],
    lower: (
      { copy, reshaped, reduced, inputs: [src], outputs: [dst] },
      { attributes: { axis, exclusive, reverse } },
    ) => {
      const { shape } = src.desc;
      const rank = shape.length;
      const d = checkedAxis(axis, shape);
      const distance = reverse ? sub(coordinate(rank), coordinate(d)) : sub(coordinate(d), coordinate(rank));
      const isCounted = ge(distance, exclusive ? 1 : 0);
      const element = select(isCounted, inputAt(0, indexWith(rank, d, coordinate(rank))), 0);
      const sums = reduced([src], { axes: [rank], domain: [...shape, shape[d]], element });
      copy(reshaped(sums, shape), dst);
    },
  },
});
