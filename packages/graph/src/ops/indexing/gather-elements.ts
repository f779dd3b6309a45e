import { add, and, constant, eq, ge, lt, select } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { GradientBuilder, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, checkedAxis, checkShape, refuse, withExtent } from '../../ir/tensor/shape.ts';
import { indexWith } from './slice.ts';

export const gatherElementsSchemas = {
  GatherElements: {
    inputs: 'src:T=floats|i32|u32|bool indices:I=i32|u32',
    outputs: 'dst:T=floats|i32|u32|bool',
    attributes: { axis: { type: 's64', default: 0 } },
  },
  ScatterElements: {
    inputs: 'src:T indices:I=i32|u32 updates:T',
    outputs: 'dst:T',
    attributes: {
      axis: { type: 's64', default: 0 },
      reduction: { type: 'string', default: 'add', among: ['add', 'none'] },
    },
  },
} as const;

/** Operations with one index per element along an axis, like `torch.gather` and `torch.scatter_add`. */
export const gatherElementsOperations: readonly Operation[] = defineOperations(gatherElementsSchemas, {
  /**
   * For each element of indices, the element of src with that index along an axis. An index outside the axis
   * reads the nearest element and has no gradient. Not an operation of oneDNN.
   */
  GatherElements: {
    infer: ({ attributes: { axis }, inputs: [src, indices] }) => {
      if (src.shape && indices.shape) checkFit(axis, src.shape, indices.shape);
      return [indices.shape];
    },
    gradient: ({ builder, attributes: { axis }, inputs: [src, indices], dy }) => [
      () => scattered(builder, dy, indices, axis, src),
      null,
    ],
    lower: ({ map, inputs: [src, indices], outputs: [dst] }, { attributes: { axis } }) => {
      const { shape } = src.desc;
      const d = checkedAxis(axis, shape);
      const index = indexWith(shape.length, d, input(1, 'i32'));
      map(inputAt(0, index, exprType(src.desc.dtype)), [src, indices], dst);
    },
  },
  /**
   * src with each element of updates added to the element that its index along an axis names. With the
   * reduction none, the update replaces that element, and the last of several updates wins. An update whose
   * index is outside the axis is ignored. Not an operation of oneDNN.
   */
  ScatterElements: {
    infer: ({ attributes: { axis }, inputs: [src, indices, updates] }) => {
      if (src.shape && indices.shape) checkFit(axis, src.shape, indices.shape);
      checkShape('updates of', updates.shape, indices.shape);
      return [src.shape];
    },
    gradient: ({ builder, attributes: { axis, reduction }, inputs: [src, indices, updates], dy }) => {
      const at = builder.forward(indices);
      const zero = (): typeof dy => builder.constant(0, dy.dtype, builder.shapeOf(updates));
      const bySrc = (): typeof dy =>
        reduction === 'add' ? dy : builder.op('ScatterElements', [dy, at, zero()], { axis, reduction });
      // With the reduction none, this ignores that only the last update with the same index was used.
      return [bySrc, null, () => gatherOrZero(builder, dy, at, axis, builder.shapeOf(src))];
    },
    lower: ({ map, reduced, inputs, outputs: [dst] }, { attributes: { axis, reduction } }) => {
      const [src, indices, updates] = inputs;
      const rank = src.desc.shape.length;
      const d = checkedAxis(axis, src.desc.shape);
      // Each element of dst searches the axis for its own updates, so no two invocations write to the same
      // element, and the order of the sum is fixed.
      const domain = [...withExtent(indices.desc.shape, d, src.desc.shape[d]), indices.desc.shape[d]];
      const along = indexWith(rank, d, coordinate(rank));
      const isHere = eq(inputAt(0, along, 'i32'), coordinate(d));
      const own = [...src.desc.shape.map((_, e) => coordinate(e)), constant(0, 'i32')];
      // Indices may cover only a part of the other dimensions.
      const isCovered = and(
        ...indices.desc.shape.flatMap((n, e) =>
          e === d || n === src.desc.shape[e] ? [] : [lt(coordinate(e), n)],
        ),
      );
      if (reduction === 'add') {
        const element = select(isHere, inputAt(1, along), 0);
        const sums = reduced([indices, updates], { axes: [rank], domain, element });
        map(add(input(0), select(isCovered, inputAt(1, own), 0)), [src, sums], dst);
        return;
      }
      const element = select(isHere, coordinate(rank), constant(-1, 'i32'));
      const last = reduced([indices], { op: 'max', axes: [rank], domain, element, dtype: 'i32' });
      const place = inputAt(1, own, 'i32');
      const taken = inputAt(2, indexWith(rank, d, place));
      map(select(and(isCovered, ge(place, 0)), taken, input(0)), [src, last, updates], dst);
    },
  },
});

/** The gradient of elements that were taken at `indices` along an axis of `src`: zero for the others. */
export function scattered(
  builder: GradientBuilder,
  dy: LogicalTensor,
  indices: LogicalTensor,
  axis: number,
  src: LogicalTensor,
): LogicalTensor {
  const zeros = builder.constant(0, dy.dtype, builder.shapeOf(src));
  return builder.op('ScatterElements', [zeros, builder.forward(indices), dy], { axis });
}

/**
 * Writes the gradient of elements that were written at indices along an axis: the gradient of the result at
 * each index, and 0 for an index outside the axis.
 */
export function gatherOrZero(
  builder: GradientBuilder,
  dy: LogicalTensor,
  at: LogicalTensor,
  axis: number,
  shape: readonly number[],
): LogicalTensor {
  // An index outside the axis reads the nearest element, so a 0 is padded at each end of the axis.
  const around = shape.map((_, e) => Number(e === axisOf(axis, shape.length)));
  const padded = builder.op('Pad', [dy], { before: around, after: around });
  const moved = builder.op('Add', [builder.cast(at, 'i32'), builder.constant(1, 'i32')]);
  return builder.op('GatherElements', [padded, moved], { axis });
}

/** Indices along the axis may outnumber its elements, unless it has none. */
function checkFit(axis: number, src: readonly number[], indices: readonly number[]): void {
  const d = checkedAxis(axis, src);
  const fits =
    src.length === indices.length &&
    indices.every((n, e) => n <= src[e] || src[e] < 0 || (e === d && src[e] > 0));
  if (!fits) refuse(`has indices [${indices}] along axis ${axis}, which do not fit [${src}]`);
}
