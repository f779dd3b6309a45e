import { InvalidShapeError } from '@tilewise/core';
import { abs, div, mul, type NumericExpr, sqrt } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { flagOf, numbersOf } from '../../ir/schema/attribute.ts';
import type { GradientBuilder, GradientCall, InputGradient, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { elementwise } from '../elementwise/elementwise.ts';
import { numeric } from '../elementwise/numeric.ts';
import { optionalPort, port } from '../ports.ts';

interface ReduceDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly op: ReducePrimitive['op'];
  readonly element?: (x: NumericExpr) => NumericExpr;
  readonly result?: (value: NumericExpr, count: number) => NumericExpr;
  /** The gradient by src, from that by the result with 1 along the reduced axes. */
  readonly gradient: (dy: LogicalTensor, reduction: Reduced) => LogicalTensor;
}

/** A reduction whose gradient is asked for. */
interface Reduced {
  readonly builder: GradientBuilder;
  /** What was reduced, in the dtype of the gradient. */
  src(): LogicalTensor;
  /** Whether that is what forward reduced, bit for bit, and not computed again. */
  readonly isSame: boolean;
  /** The result, in that dtype, with 1 along the reduced axes. */
  dst(): LogicalTensor;
  readonly axes: readonly number[];
  /** How many numbers each result is of. */
  readonly count: number;
}

/** The gradient of every element, that of the result divided by something. */
const spread = (dy: LogicalTensor, { builder, src }: Reduced, divisor = 1): LogicalTensor =>
  builder.op('BroadcastLike', [dy, src()], { divisor });

/** An operation of its own, from src, the result and the gradient by it. */
const ownBackward =
  (kind: string): ReduceDefinition['gradient'] =>
  (dy, { builder, src, dst, axes }) =>
    builder.op(`${kind}Backward`, [src(), dst(), dy], { axes });

/**
 * The same of a largest or smallest element: which it was is only known of the elements that it was taken of. Of others, which differ by
 * a rounding, it is taken again.
 */
const extremumBackward =
  (kind: string): ReduceDefinition['gradient'] =>
  (dy, reduction) => {
    const { builder, src, isSame, axes } = reduction;
    const dst = (): LogicalTensor =>
      isSame ? reduction.dst() : builder.op(kind, [src()], { axes, keep_dims: true });
    return ownBackward(kind)(dy, { ...reduction, dst });
  };

const definitions: readonly ReduceDefinition[] = [
  { kind: 'ReduceSum', summary: 'Sum over axes.', op: 'sum', gradient: spread },
  { kind: 'ReduceMax', summary: 'Largest over axes.', op: 'max', gradient: extremumBackward('ReduceMax') },
  { kind: 'ReduceMin', summary: 'Smallest over axes.', op: 'min', gradient: extremumBackward('ReduceMin') },
  { kind: 'ReduceProd', summary: 'Product over axes.', op: 'prod', gradient: ownBackward('ReduceProd') },
  {
    kind: 'ReduceMean',
    summary: 'Mean over axes.',
    op: 'sum',
    result: (sum, count) => div(sum, count),
    gradient: (dy, reduction) => spread(dy, reduction, reduction.count),
  },
  {
    kind: 'ReduceL1',
    summary: 'Sum of |x| over axes.',
    op: 'sum',
    element: abs,
    gradient: (dy, reduction) =>
      reduction.builder.op('AbsBackward', [reduction.src(), spread(dy, reduction)]),
  },
  {
    kind: 'ReduceL2',
    summary: '√Σx² over axes.',
    op: 'sum',
    element: x => mul(x, x),
    result: sqrt,
    gradient: ownBackward('ReduceL2'),
  },
];

/** Reductions over the axes of an attribute. */
export const reduceOperations: readonly Operation[] = definitions.map(
  ({ kind, summary, op, element = x => x, result = x => x, gradient }) => ({
    kind,
    summary,
    inputs: [port('src', 'T1'), optionalPort('axes', 'T2', ['i32'])],
    outputs: [port('dst', 'T1')],
    attributes: { axes: { type: 's64[]', default: [] }, keep_dims: { type: 'bool', default: false } },
    constraint: ({ inputs }) =>
      inputs.length === 1 ? null : "takes its axes as the attribute 'axes', not as a second tensor",
    gradient: call => reduceGradient(kind, gradient, call),
    infer: ({ attributes, inputs: [{ shape }] }) => {
      if (shape === null) return [null];
      const axes = reduceAxes(kind, numbersOf(attributes, 'axes'), shape);
      const keep = flagOf(attributes, 'keep_dims');
      return [shape.flatMap((n, d) => (axes.includes(d) ? (keep ? [1] : []) : [n]))];
    },
    lower: lowering => {
      const [src] = lowering.inputs;
      const domain = src.desc.shape;
      const axes = reduceAxes(kind, numbersOf(lowering.call.attributes, 'axes'), domain);
      const count = axes.reduce((n, d) => n * domain[d], 1);
      lowering.reduce(
        { op, axes, domain, element: element(input(0)), result: result(reduced, count) },
        [src],
        withReducedAxes(lowering, lowering.outputs[0], domain, axes),
      );
    },
  }),
);

/**
 * Axes counted from the start.
 * @throws InvalidShapeError when there are none, or one is out of range or there twice.
 */
export function reduceAxes(kind: string, axes: readonly number[], shape: readonly number[]): number[] {
  const own = axes.map(axis => axisOf(axis, shape.length) ?? -1);
  if (own.length === 0 || own.includes(-1) || new Set(own).size !== own.length) {
    throw new InvalidShapeError(kind, `needs different axes of [${shape}] in 'axes', got [${axes}]`);
  }
  return own;
}

/** A shape with 1 along axes. */
export function keptShape(shape: readonly number[], axes: readonly number[]): number[] {
  return shape.map((n, d) => (axes.includes(d) ? 1 : n));
}

/** The output seen with 1 along the reduced axes, also where it has lost them. */
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
  kind: string,
  rule: ReduceDefinition['gradient'],
  { builder, attributes, inputs: [src], outputs: [dst], outputGradients: [given] }: GradientCall,
): readonly (InputGradient | null)[] {
  if (!given) return [];
  return [
    () => {
      const shape = builder.shapeOf(src);
      const axes = reduceAxes(kind, numbersOf(attributes, 'axes'), shape);
      const kept = keptShape(shape, axes);
      const column = (t: LogicalTensor): LogicalTensor =>
        flagOf(attributes, 'keep_dims')
          ? t
          : builder.op('StaticReshape', [t], { shape: kept, special_zero: false });
      const recomputed = (t: LogicalTensor): LogicalTensor => builder.cast(builder.forward(t), given.dtype);
      return rule(column(given), {
        builder,
        src: () => recomputed(src),
        isSame: builder.isGiven(src),
        dst: () => column(recomputed(dst)),
        axes,
        count: axes.reduce((n, d) => n * shape[d], 1),
      });
    },
  ];
}

export const broadcastLike: Operation = elementwise({
  kind: 'BroadcastLike',
  summary: 'src / divisor, broadcast to the shape of like. Not an operation of oneDNN.',
  inputs: [port('src', 'T'), port('like', 'U')],
  outputs: [port('dst', 'T')],
  attributes: { divisor: { type: 'f32', default: 1 } },
  gradient: ({ builder, attributes, inputs: [src], outputs: [dst], outputGradients: [dy] }) => {
    if (!dy) return [];
    const bySrc = (): LogicalTensor => {
      const part = builder.op('BroadcastLike', [dy, dy], attributes);
      return builder.reduceTo(part, builder.shapeOf(dst), builder.shapeOf(src));
    };
    return [bySrc, null];
  },
  element: ([x], { divisor }) => div(numeric(x), Number(divisor)),
});
