import { InvalidShapeError } from '@tilewise/core';
import { abs, div, mul, type NumericExpr, sqrt } from '@tilewise/core/expr';
import { input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../lowering/lowering.ts';
import { flagOf, numbersOf } from '../schema/attribute.ts';
import type { GradientCall, InputGradient, Operation } from '../schema/operation.ts';
import { axisOf } from '../shape/broadcast.ts';
import { elementwise } from './elementwise.ts';
import { numeric } from './numeric.ts';
import { optionalPort, port } from './ports.ts';

interface ReduceDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly op: ReducePrimitive['op'];
  readonly element?: (x: NumericExpr) => NumericExpr;
  readonly result?: (value: NumericExpr, count: number) => NumericExpr;
  /** Of what has a gradient: whether each element has that of the result, or its part of it. */
  readonly spread?: 'whole' | 'part';
}

const definitions: readonly ReduceDefinition[] = [
  { kind: 'ReduceSum', summary: 'Sum over axes.', op: 'sum', spread: 'whole' },
  { kind: 'ReduceMax', summary: 'Largest over axes.', op: 'max' },
  { kind: 'ReduceMin', summary: 'Smallest over axes.', op: 'min' },
  { kind: 'ReduceProd', summary: 'Product over axes.', op: 'prod' },
  {
    kind: 'ReduceMean',
    summary: 'Mean over axes.',
    op: 'sum',
    result: (sum, count) => div(sum, count),
    spread: 'part',
  },
  { kind: 'ReduceL1', summary: 'Sum of |x| over axes.', op: 'sum', element: abs },
  { kind: 'ReduceL2', summary: '√Σx² over axes.', op: 'sum', element: x => mul(x, x), result: sqrt },
];

/** Reductions over the axes of an attribute. */
export const reduceOperations: readonly Operation[] = definitions.map(
  ({ kind, summary, op, element = x => x, result = x => x, spread }) => ({
    kind,
    summary,
    inputs: [port('src', 'T1'), optionalPort('axes', 'T2', ['i32'])],
    outputs: [port('dst', 'T1')],
    attributes: { axes: { type: 's64[]', default: [] }, keep_dims: { type: 'bool', default: false } },
    constraint: ({ inputs }) =>
      inputs.length === 1 ? null : "takes its axes as the attribute 'axes', not as a second tensor",
    ...(spread && { gradient: (call: GradientCall) => reduceGradient(kind, spread, call) }),
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
  spread: 'whole' | 'part',
  { builder, attributes, inputs: [src], outputGradients: [dy] }: GradientCall,
): readonly (InputGradient | null)[] {
  if (!dy) return [];
  return [
    () => {
      const shape = builder.shapeOf(src);
      const axes = reduceAxes(kind, numbersOf(attributes, 'axes'), shape);
      const kept = shape.map((n, d) => (axes.includes(d) ? 1 : n));
      const count = axes.reduce((n, d) => n * shape[d], 1);
      const isKept = flagOf(attributes, 'keep_dims');
      const column = isKept ? dy : builder.op('StaticReshape', [dy], { shape: kept, special_zero: false });
      return builder.op('BroadcastLike', [column, builder.forward(src)], {
        divisor: spread === 'part' ? count : 1,
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
  element: ([x], { divisor }) => div(numeric(x), Number(divisor)),
});
