import { InvalidShapeError, Tensor } from '@tilewise/core';
import { add, div, mul, type NumericExpr, pow, sub } from '@tilewise/core/expr';
import { input, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { reshaped } from '../../ir/program/views.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { numberOf } from '../../ir/schema/attribute.ts';
import type { GradientCall, InputGradient, Operation } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import { copyTo } from '../layout/layout.ts';
import { floats, optionalPort, port } from '../ports.ts';
import { keptShape } from './reduce.ts';

const attributes = {
  epsilon: { type: 'f32', default: 1e-5 },
  begin_norm_axis: { type: 's64', default: -1 },
} as const;

/** The axes that are normalised: from one on to the last. */
function normAxes(attributes: Attributes, rank: number): number[] {
  const begin = numberOf(attributes, 'begin_norm_axis');
  const first = axisOf(begin, rank);
  if (first === undefined) {
    throw new InvalidShapeError('begin_norm_axis', `must be an axis of ${rank} dimensions, got ${begin}`);
  }
  return Array.from({ length: rank - first }, (_, n) => first + n);
}

/** A mean over the normalised axes of what `element` makes of the inputs; `result` makes of it what is stored. */
function meanOf(
  lowering: Lowering,
  inputs: readonly Value[],
  element: NumericExpr,
  result: (mean: NumericExpr) => NumericExpr = mean => mean,
): Value {
  const domain = inputs[0].desc.shape;
  const axes = normAxes(lowering.call.attributes, domain.length);
  const count = axes.reduce((n, d) => n * domain[d], 1);
  const mean = lowering.temporary(keptShape(domain, axes));
  const value = result(div(reduced, count));
  lowering.reduce({ op: 'sum', axes, domain, element, result: value }, inputs, mean);
  return mean;
}

/** A zero that broadcasts to a value. */
function zeroOf(lowering: Lowering, { desc }: Value): Value {
  return lowering.constant(Tensor.zeros(desc.shape.map(() => 1)));
}

interface Statistics {
  /** Of each row; zero for RMSNorm. */
  readonly mean: Value;
  /** Mean squared distance from it. */
  readonly variance: Value | null;
  /** 1/√(variance + ε). */
  readonly rate: Value;
}

/** What a row is normalised by; the variance too where it is a result. */
function statistics(lowering: Lowering, centred: boolean, keepsVariance: boolean): Statistics {
  const [src] = lowering.inputs;
  const e = numberOf(lowering.call.attributes, 'epsilon');
  const rateOf = (variance: NumericExpr): NumericExpr => pow(add(variance, e), -0.5);
  const mean = centred ? meanOf(lowering, [src], input(0)) : zeroOf(lowering, src);
  const distance = sub(input(0), input(1));
  const square = mul(distance, distance);
  if (!keepsVariance) return { mean, variance: null, rate: meanOf(lowering, [src, mean], square, rateOf) };
  const variance = meanOf(lowering, [src, mean], square);
  const rate = lowering.temporary(variance.desc.shape);
  lowering.map(rateOf(input(0)), [variance], rate);
  return { mean, variance, rate };
}

interface NormDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly centred: boolean;
  /** Inputs after src: what the result is multiplied by, and what is added. */
  readonly affine: Operation['inputs'];
  /** Results after dst: what the rows were normalised by. */
  readonly statistics: Operation['outputs'];
}

function norm({ kind, summary, centred, affine, statistics: kept }: NormDefinition): readonly Operation[] {
  return [
    {
      kind,
      summary,
      inputs: [port('src', 'T'), ...affine],
      outputs: [port('dst', 'T'), ...kept],
      attributes: {
        ...attributes,
        ...(kept.length > 0 && { keep_stats: { type: 'bool', default: false } as const }),
      },
      constraint: ({ attributes, outputs }) => {
        const expected = attributes.keep_stats === true ? 3 : 1;
        return outputs.length === expected
          ? null
          : `has ${expected} outputs when keep_stats is ${attributes.keep_stats === true}, got ${outputs.length}`;
      },
      infer: ({ attributes, inputs: [{ shape }], outputs }) => {
        const rows = shape?.slice(0, normAxes(attributes, shape.length)[0]) ?? null;
        return outputs.map((_, n) => (n === 0 ? shape : rows));
      },
      gradient: call => normGradient(kind, call),
      lower: lowering => {
        const [src, gamma, beta] = lowering.inputs;
        const [dst, ...rows] = lowering.outputs;
        const { mean, variance, rate } = statistics(lowering, centred, rows.length > 0);
        const normal = mul(sub(input(0), input(1)), input(2));
        const scaled = gamma ? mul(normal, input(3)) : normal;
        lowering.map(
          beta ? add(scaled, input(4)) : scaled,
          [src, mean, rate, ...(gamma ? [gamma] : []), ...(beta ? [beta] : [])],
          dst,
        );
        if (variance === null) return;
        for (const [n, row] of [mean, variance].entries()) {
          copyTo(lowering, reshaped(lowering, row, rows[n].desc.shape), rows[n]);
        }
      },
    },
    {
      kind: `${kind}Backward`,
      summary: `The gradient by src of ${kind}, from src, the gradient by its result, and gamma. (Those by gamma and beta are sums.)`,
      inputs: [port('src', 'T'), port('diff_dst', 'T'), optionalPort('gamma', 'U', floats)],
      outputs: [port('diff_src', 'T')],
      attributes,
      infer: ({ attributes, inputs: [{ shape }] }) => {
        if (shape) normAxes(attributes, shape.length);
        return [shape];
      },
      lower: lowering => lowerBackward(lowering, centred),
    },
  ];
}

/** dx = r·(dŷ − mean(dŷ) − x̂·mean(dŷ∘x̂)) with dŷ = dy∘γ; without the mean of dŷ where x is not centred. */
function lowerBackward(lowering: Lowering, centred: boolean): void {
  const [src, dy, gamma] = lowering.inputs;
  const { mean, rate } = statistics(lowering, centred, false);
  const inputs = [src, dy, mean, rate, ...(gamma ? [gamma] : [])];
  const slope = gamma ? mul(input(1), input(4)) : input(1);
  const normal = mul(sub(input(0), input(2)), input(3));
  const slopeMean = centred ? meanOf(lowering, inputs, slope) : zeroOf(lowering, src);
  const product = meanOf(lowering, inputs, mul(slope, normal));
  const n = inputs.length;
  const value = mul(input(3), sub(sub(slope, input(n)), mul(normal, input(n + 1))));
  lowering.map(value, [...inputs, slopeMean, product], lowering.outputs[0]);
}

function normGradient(
  kind: string,
  { builder, attributes, inputs, outputGradients: [dy, dMean, dVariance] }: GradientCall,
): readonly (InputGradient | null)[] {
  const [src, gamma, beta] = inputs;
  const shape = builder.shapeOf(src);
  const options = { epsilon: attributes.epsilon, begin_norm_axis: attributes.begin_norm_axis };
  const x = ({ dtype }: LogicalTensor): LogicalTensor => builder.cast(builder.forward(src), dtype);
  const axes = normAxes(attributes, shape.length);
  const count = axes.reduce((n, d) => n * shape[d], 1);
  /** A number of each row for each of its elements, divided by something. */
  const spread = (row: LogicalTensor, divisor: number): LogicalTensor => {
    const column = builder.op('StaticReshape', [row], { shape: keptShape(shape, axes), special_zero: false });
    return builder.op('BroadcastLike', [column, x(row)], { divisor });
  };
  const byDst = (dst: LogicalTensor): LogicalTensor =>
    builder.op(`${kind}Backward`, [x(dst), dst, ...(gamma ? [builder.forward(gamma)] : [])], options);
  // ∂ variance / ∂ x = 2·(x − mean) / count: what the distance from the mean depends on the mean for sums up to 0.
  const byVariance = (row: LogicalTensor): LogicalTensor => {
    const mean = spread(builder.op('ReduceMean', [x(row)], { axes }), 1);
    return builder.op('Multiply', [spread(row, count / 2), builder.op('Subtract', [x(row), mean])]);
  };
  const bySrc = (): LogicalTensor =>
    [dy && byDst(dy), dMean && spread(dMean, count), dVariance && byVariance(dVariance)]
      .filter(term => term !== undefined)
      .reduce((sum, term) => builder.op('Add', [builder.cast(sum, term.dtype), term]));
  const sum = (of: LogicalTensor, like: LogicalTensor): LogicalTensor =>
    builder.reduceTo(of, builder.shapeOf(src), builder.shapeOf(like));
  const normalised = (dst: LogicalTensor): LogicalTensor => builder.op(kind, [x(dst)], options);
  return [
    bySrc,
    gamma && dy ? () => sum(builder.op('Multiply', [dy, normalised(dy)]), gamma) : null,
    beta && dy ? () => sum(dy, beta) : null,
  ];
}

/** Rows brought to one size. */
export const normOperations: readonly Operation[] = [
  ...norm({
    kind: 'LayerNorm',
    summary:
      '(x − mean) / √(variance + epsilon) · gamma + beta; mean and variance, of the dimensions from begin_norm_axis on, are results with keep_stats.',
    centred: true,
    affine: [optionalPort('gamma', 'U', floats), optionalPort('beta', 'U', floats)],
    statistics: [optionalPort('mean', 'S', floats), optionalPort('variance', 'S', floats)],
  }),
  ...norm({
    kind: 'RMSNorm',
    summary:
      'x / √(mean of x² + epsilon) over the dimensions from begin_norm_axis on, times gamma. Not an operation of oneDNN.',
    centred: false,
    affine: [optionalPort('gamma', 'U', floats)],
    statistics: [],
  }),
];
