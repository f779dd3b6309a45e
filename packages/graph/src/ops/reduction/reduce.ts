import { abs, div, mul, type NumericExpr, sqrt } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { defineOperation } from '../../ir/schema/define.ts';
import type { GradientBuilder, GradientCall, InputGradient, Operation } from '../../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, keptShape, refuse } from '../../ir/tensor/shape.ts';

const reduceSchema = {
  inputs: 'src:T1 axes?:T2=i32',
  outputs: 'dst:T1',
  attributes: { axes: { type: 's64[]', default: [] }, keep_dims: { type: 'bool', default: false } },
} as const;

const reduceKinds = [
  'ReduceSum',
  'ReduceMax',
  'ReduceMin',
  'ReduceProd',
  'ReduceMean',
  'ReduceL1',
  'ReduceL2',
] as const;

type ReduceKind = (typeof reduceKinds)[number];

export type ReduceSchemas = Readonly<Record<ReduceKind, typeof reduceSchema>>;

interface ReduceDefinition {
  readonly op: ReducePrimitive['op'];
  readonly element?: (x: NumericExpr) => NumericExpr;
  readonly result?: (value: NumericExpr, count: number) => NumericExpr;
  /**
   * The gradient with respect to src, from the gradient of the result with extents of 1 along the reduced
   * axes.
   */
  readonly gradient: (dy: LogicalTensor, reduction: Reduction) => LogicalTensor;
}

/** A reduction whose gradient is requested. */
interface Reduction {
  readonly builder: GradientBuilder;
  /** The reduced tensor, in the dtype of the gradient. */
  src(): LogicalTensor;
  /** Whether `src` is bit for bit the tensor that forward reduced, and not recomputed. */
  readonly isSame: boolean;
  /** The result in the dtype of the gradient, with extents of 1 along the reduced axes. */
  dst(): LogicalTensor;
  readonly axes: readonly number[];
  /** The number of elements that each result is reduced from. */
  readonly count: number;
}

/** Broadcasts the gradient of the result to every element, divided by a number. */
const spread = (dy: LogicalTensor, { builder, src }: Reduction, divisor = 1): LogicalTensor =>
  builder.op('BroadcastLike', [dy, src()], { divisor });

/**
 * The gradient by the kind's backward operation, which takes src, the result and the gradient of the result.
 */
const ownBackward =
  (kind: ReduceKind): ReduceDefinition['gradient'] =>
  (dy, { builder, src, dst, axes }) =>
    builder.op(`${kind}Backward`, [src(), dst(), dy], { axes });

/**
 * The gradient of a maximum or minimum by its backward operation. Equality decides which element was the
 * extremum, so a recomputed src, which may differ by a rounding, needs a recomputed extremum.
 */
const extremumBackward =
  (kind: ReduceKind): ReduceDefinition['gradient'] =>
  (dy, reduction) => {
    const { builder, src, isSame, axes } = reduction;
    const dst = (): LogicalTensor =>
      isSame ? reduction.dst() : builder.op(kind, [src()], { axes, keep_dims: true });
    return ownBackward(kind)(dy, { ...reduction, dst });
  };

const definitions: Readonly<Record<ReduceKind, ReduceDefinition>> = {
  /** The sum over axes. */
  ReduceSum: { op: 'sum', gradient: spread },
  /** The largest element over axes. */
  ReduceMax: {
    op: 'max',
    gradient: extremumBackward('ReduceMax'),
  },
  /** The smallest element over axes. */
  ReduceMin: {
    op: 'min',
    gradient: extremumBackward('ReduceMin'),
  },
  /** The product over axes. */
  ReduceProd: { op: 'prod', gradient: ownBackward('ReduceProd') },
  /** The mean over axes. */
  ReduceMean: {
    op: 'sum',
    result: (sum, count) => div(sum, count),
    gradient: (dy, reduction) => spread(dy, reduction, reduction.count),
  },
  /** The sum of |x| over axes. */
  ReduceL1: {
    op: 'sum',
    element: abs,
    gradient: (dy, reduction) =>
      reduction.builder.op('AbsBackward', [reduction.src(), spread(dy, reduction)]),
  },
  /** √Σx² over axes. */
  ReduceL2: {
    op: 'sum',
    element: x => mul(x, x),
    result: sqrt,
    gradient: ownBackward('ReduceL2'),
  },
};

/** Reductions over the axes of an attribute. */
export const reduceOperations: readonly Operation[] = reduceKinds.map(kind => {
  const { op, element = x => x, result = x => x, gradient } = definitions[kind];
  return defineOperation(kind, reduceSchema, {
    constraint: ({ inputs }) =>
      inputs.length === 1 ? null : "takes its axes as the attribute 'axes', not as a second tensor",
    gradient: call => reduceGradient(gradient, call),
    infer: ({ attributes: { axes: given, keep_dims: keep }, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      const axes = reduceAxes(given, shape);
      return [shape.flatMap((n, d) => (axes.includes(d) ? (keep ? [1] : []) : [n]))];
    },
    lower: (lowering, { attributes }) => {
      const [src] = lowering.inputs;
      const domain = src.desc.shape;
      const axes = reduceAxes(attributes.axes, domain);
      const count = axes.reduce((n, d) => n * domain[d], 1);
      lowering.reduce(
        { op, axes, domain, element: element(input(0)), result: result(reduced, count) },
        [src],
        withReducedAxes(lowering, lowering.outputs[0], domain, axes),
      );
    },
  });
});

/**
 * Axes counted from the start. Refuses an empty list, an axis out of range, and an axis that is listed twice.
 */
export function reduceAxes(axes: readonly number[], shape: readonly number[]): number[] {
  const own = axes.map(axis => axisOf(axis, shape.length) ?? -1);
  if (own.length === 0 || own.includes(-1) || new Set(own).size !== own.length)
    refuse(`needs distinct axes of [${shape}] in 'axes', got [${axes}]`);
  return own;
}

/** The output with extents of 1 along the reduced axes, even if the output does not keep these axes. */
function withReducedAxes(
  lowering: Lowering,
  dst: Value,
  domain: readonly number[],
  axes: readonly number[],
): Value {
  const { shape, strides } = dst.desc;
  if (shape.length === domain.length) return dst;
  let next = 0;
  const kept = domain.map((_, d) => (axes.includes(d) ? null : next++));
  return lowering.view(
    dst,
    kept.map(d => (d === null ? 1 : shape[d])),
    kept.map(d => (d === null ? 0 : strides[d])),
  );
}

function reduceGradient(
  rule: ReduceDefinition['gradient'],
  {
    builder,
    attributes,
    inputs: [src],
    outputs: [dst],
    dy,
  }: GradientCall<ResolvedAttributes<typeof reduceSchema.attributes>>,
): readonly (InputGradient | null)[] {
  return [
    () => {
      const shape = builder.shapeOf(src);
      const axes = reduceAxes(attributes.axes, shape);
      const kept = keptShape(shape, axes);
      const column = (t: LogicalTensor): LogicalTensor =>
        attributes.keep_dims ? t : builder.reshape(t, kept);
      const forward = (t: LogicalTensor): LogicalTensor => builder.cast(builder.forward(t), dy.dtype);
      return rule(column(dy), {
        builder,
        src: () => forward(src),
        isSame: builder.isGiven(src),
        dst: () => column(forward(dst)),
        axes,
        count: axes.reduce((n, d) => n * shape[d], 1),
      });
    },
  ];
}
