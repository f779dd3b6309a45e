import { and, div, eq, mul, type NumericExpr, or, select } from '@tilewise/core/expr';
import { input, type ReducePrimitive } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { defineOperation } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { checkShape, keptShape } from '../../ir/tensor/shape.ts';
import { reduceAxes } from './reduce.ts';

const reduceBackwardSchema = {
  inputs: 'src:T dst:T diff_dst:T',
  outputs: 'diff_src:T',
  attributes: { axes: { type: 's64[]', required: true } },
} as const;

const reduceBackwardKinds = [
  'ReduceMaxBackward',
  'ReduceMinBackward',
  'ReduceProdBackward',
  'ReduceL2Backward',
] as const;

type ReduceBackwardKind = (typeof reduceBackwardKinds)[number];

export type ReduceBackwardSchemas = Readonly<Record<ReduceBackwardKind, typeof reduceBackwardSchema>>;

/**
 * Writes diff_src from src, dst and diff_dst, where dst and diff_dst have extents of 1 along the reduced
 * axes.
 */
type Write = (lowering: Lowering, overAxes: OverAxes) => void;

/** Reduces an expression of src and dst over the axes of the attribute. */
type OverAxes = (op: ReducePrimitive['op'], element: NumericExpr) => Value;

const src = input(0);
const dst = input(1);
const dy = input(2);

/** The result is one of the elements; elements equal to it share the gradient, as in PyTorch's `amax`. */
const lowerExtremum: Write = ({ map, inputs, outputs }, overAxes) => {
  const isExtreme = eq(src, dst);
  const count = overAxes('sum', select(isExtreme, 1, 0));
  map(select(isExtreme, div(dy, input(3)), 0), [...inputs, count], outputs[0]);
};

/**
 * dy times the product of the other elements. Without zeros, that is the product of all elements divided by
 * the element. With one zero, only the zero has a gradient: dy times the product of the others. With several
 * zeros, all gradients are 0.
 */
const lowerProduct: Write = ({ map, inputs, outputs }, overAxes) => {
  const isZero = eq(src, 0);
  const product = overAxes('prod', select(isZero, 1, src));
  const zeros = overAxes('sum', select(isZero, 1, 0));
  const hasOthers = or(eq(input(4), 0), and(isZero, eq(input(4), 1)));
  const gradient = select(hasOthers, mul(dy, div(input(3), select(isZero, 1, src))), 0);
  map(gradient, [...inputs, product, zeros], outputs[0]);
};

const writers: Readonly<Record<ReduceBackwardKind, Write>> = {
  /**
   * The gradient of ReduceMax with respect to src; equal maxima share it equally. dst and diff_dst have
   * extents of 1 along the reduced axes. Not an operation of oneDNN.
   */
  ReduceMaxBackward: lowerExtremum,
  /**
   * The gradient of ReduceMin with respect to src; equal minima share it equally. dst and diff_dst have
   * extents of 1 along the reduced axes. Not an operation of oneDNN.
   */
  ReduceMinBackward: lowerExtremum,
  /**
   * The gradient of ReduceProd with respect to src: diff_dst times the product of the other elements, even if
   * some are 0. dst and diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.
   */
  ReduceProdBackward: lowerProduct,
  /**
   * The gradient of ReduceL2 with respect to src: diff_dst·src / dst, and 0 where all elements are 0. dst and
   * diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.
   */
  ReduceL2Backward: ({ map, inputs, outputs }) =>
    map(select(eq(dst, 0), 0, mul(dy, div(src, select(eq(dst, 0), 1, dst)))), inputs, outputs[0]),
};

/** Gradients of reductions that depend on more than the gradient of the result. */
export const reduceBackwardOperations: readonly Operation[] = reduceBackwardKinds.map(kind => {
  const write = writers[kind];
  return defineOperation(kind, reduceBackwardSchema, {
    infer: ({ attributes: { axes }, inputs: [{ shape }, ...rows] }) => {
      if (shape) {
        const kept = keptShape(shape, reduceAxes(axes, shape));
        for (const row of rows) checkShape('dst and diff_dst of', row.shape, kept);
      }
      return [shape];
    },
    lower: (lowering, { attributes }) => {
      const domain = lowering.inputs[0].desc.shape;
      const axes = reduceAxes(attributes.axes, domain);
      const inputs = lowering.inputs.slice(0, 2);
      write(lowering, (op, element) => lowering.reduced(inputs, { op, axes, domain, element }));
    },
  });
});
