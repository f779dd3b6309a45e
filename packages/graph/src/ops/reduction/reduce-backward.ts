import { InvalidShapeError, sameShape } from '@tilewise/core';
import { and, div, eq, mul, type NumericExpr, or, select } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { isKnown } from '../../ir/tensor/logical-tensor.ts';
import { port } from '../ports.ts';
import { keptShape, reduceAxes } from './reduce.ts';

interface ReduceBackwardDefinition {
  readonly kind: string;
  readonly summary: string;
  /** Writes diff_src from src, dst and diff_dst, the latter two with 1 along the reduced axes. */
  readonly lower: (lowering: Lowering, overAxes: OverAxes) => void;
}

/** A reduction of src and dst over the axes of the attribute. */
type OverAxes = (op: ReducePrimitive['op'], element: NumericExpr) => Value;

const src = input(0);
const dst = input(1);
const dy = input(2);

/** The results are some of the elements; where they are several, each has its part of the gradient, as in PyTorch's `amax`. */
function lowerExtremum(lowering: Lowering, overAxes: OverAxes): void {
  const isExtreme = eq(src, dst);
  const count = overAxes('sum', select(isExtreme, 1, 0));
  lowering.map(select(isExtreme, div(dy, input(3)), 0), [...lowering.inputs, count], lowering.outputs[0]);
}

/**
 * dy times the product of the other elements. Where none is 0, that is the product of all over the element; where one is, it is that
 * of the others for it, and 0 for them; where several are, 0 for all.
 */
function lowerProduct(lowering: Lowering, overAxes: OverAxes): void {
  const isZero = eq(src, 0);
  const product = overAxes('prod', select(isZero, 1, src));
  const zeros = overAxes('sum', select(isZero, 1, 0));
  const hasOthers = or(eq(input(4), 0), and(isZero, eq(input(4), 1)));
  lowering.map(
    select(hasOthers, mul(dy, div(input(3), select(isZero, 1, src))), 0),
    [...lowering.inputs, product, zeros],
    lowering.outputs[0],
  );
}

const definitions: readonly ReduceBackwardDefinition[] = [
  {
    kind: 'ReduceMaxBackward',
    summary: 'The gradient by src of ReduceMax; elements that are equally large have each a part of it.',
    lower: lowerExtremum,
  },
  {
    kind: 'ReduceMinBackward',
    summary: 'The gradient by src of ReduceMin; elements that are equally small have each a part of it.',
    lower: lowerExtremum,
  },
  {
    kind: 'ReduceProdBackward',
    summary: 'The gradient by src of ReduceProd: the product of the other elements, also where some are 0.',
    lower: lowerProduct,
  },
  {
    kind: 'ReduceL2Backward',
    summary: 'The gradient by src of ReduceL2, src / dst, and 0 where all elements are 0.',
    lower: ({ map, inputs, outputs }) =>
      map(select(eq(dst, 0), 0, mul(dy, div(src, select(eq(dst, 0), 1, dst)))), inputs, outputs[0]),
  },
];

/** Gradients of reductions that are more than the gradient of the result for each element. */
export const reduceBackwardOperations: readonly Operation[] = definitions.map(({ kind, summary, lower }) => ({
  kind,
  summary: `${summary} dst and diff_dst have 1 along the reduced axes. Not an operation of oneDNN.`,
  inputs: [port('src', 'T'), port('dst', 'T'), port('diff_dst', 'T')],
  outputs: [port('diff_src', 'T')],
  attributes: { axes: { type: 's64[]', required: true } },
  infer: ({ attributes, inputs: [{ shape }, ...rows] }) => {
    if (shape) {
      const kept = keptShape(shape, reduceAxes(kind, numbersOf(attributes, 'axes'), shape));
      for (const row of rows) {
        if (isKnown(row.shape) && isKnown(kept) && !sameShape(row.shape, kept)) {
          throw new InvalidShapeError(kind, `needs dst and diff_dst of [${kept}], got [${row.shape}]`);
        }
      }
    }
    return [shape];
  },
  lower: lowering => {
    const { call, inputs } = lowering;
    const domain = inputs[0].desc.shape;
    const axes = reduceAxes(kind, numbersOf(call.attributes, 'axes'), domain);
    const kept = keptShape(domain, axes);
    lower(lowering, (op, element) => {
      const result = lowering.temporary(kept);
      lowering.reduce({ op, axes, domain, element, result: reduced }, inputs.slice(0, 2), result);
      return result;
    });
  },
}));
