import { InvalidShapeError, Tensor } from '@tilewise/core';
import { add, div, mul, type NumericExpr, pow, sub } from '@tilewise/core/expr';
import { input, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { defineOperations, type OperationRules } from '../../ir/schema/define.ts';
import type { GradientCall, InputGradient, Operation } from '../../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../../ir/schema/schema.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { axisOf, broadcastTo, keptShape } from '../../ir/tensor/shape.ts';

const attributes = {
  epsilon: { type: 'f32', default: 1e-5 },
  begin_norm_axis: { type: 's64', default: -1 },
} as const;

const backward = {
  inputs: 'src:T diff_dst:T gamma?:U',
  outputs: 'diff_src:T',
  attributes: attributes as typeof attributes,
} as const;

export const normSchemas = {
  LayerNorm: {
    inputs: 'src:T gamma?:U beta?:U',
    outputs: 'dst:T mean?:S variance?:S',
    attributes: {
      epsilon: { type: 'f32', default: 1e-5 },
      begin_norm_axis: { type: 's64', default: -1 },
      keep_stats: { type: 'bool', default: false },
    },
  },
  LayerNormBackward: backward as typeof backward,
  RMSNorm: { inputs: 'src:T gamma?:U', outputs: 'dst:T', attributes: attributes as typeof attributes },
  RMSNormBackward: backward as typeof backward,
} as const;

type NormAttributes = ResolvedAttributes<typeof attributes>;

/** The normalised axes: from `begin_norm_axis` to the last. */
function normAxes({ begin_norm_axis: begin }: NormAttributes, rank: number): number[] {
  const first = axisOf(begin, rank);
  if (first === undefined) {
    throw new InvalidShapeError('begin_norm_axis', `must be an axis of ${rank} dimensions, got ${begin}`);
  }
  return Array.from({ length: rank - first }, (_, n) => first + n);
}

/**
 * The mean of an expression of the inputs over the normalised axes; `result` maps the mean to the stored
 * value.
 */
function meanOf(
  lowering: Lowering,
  attributes: NormAttributes,
  inputs: readonly Value[],
  element: NumericExpr,
  result: (mean: NumericExpr) => NumericExpr = mean => mean,
): Value {
  const domain = inputs[0].desc.shape;
  const axes = normAxes(attributes, domain.length);
  const count = axes.reduce((n, d) => n * domain[d], 1);
  return lowering.reduced(inputs, { axes, domain, element, result: result(div(reduced, count)) });
}

/** A zero that broadcasts to a value. */
function zeroOf(lowering: Lowering, { desc }: Value): Value {
  return lowering.constant(Tensor.zeros(desc.shape.map(() => 1)));
}

interface Moments {
  /** The mean of each row; zero for RMSNorm. */
  readonly mean: Value;
  /** The mean squared distance from the mean; null if it is not stored. */
  readonly variance: Value | null;
  /** 1/√(variance + ε). */
  readonly rate: Value;
}

/** The mean and the scale that normalise a row, and the variance if it is a result. */
function moments(
  lowering: Lowering,
  attributes: NormAttributes,
  { centred, keepsVariance }: Readonly<Record<'centred' | 'keepsVariance', boolean>>,
): Moments {
  const [src] = lowering.inputs;
  const rateOf = (variance: NumericExpr): NumericExpr => pow(add(variance, attributes.epsilon), -0.5);
  const mean = centred ? meanOf(lowering, attributes, [src], input(0)) : zeroOf(lowering, src);
  const distance = sub(input(0), input(1));
  const square = mul(distance, distance);
  if (!keepsVariance) {
    return { mean, variance: null, rate: meanOf(lowering, attributes, [src, mean], square, rateOf) };
  }
  const variance = meanOf(lowering, attributes, [src, mean], square);
  const rate = lowering.temporary(variance.desc.shape);
  lowering.map(rateOf(input(0)), [variance], rate);
  return { mean, variance, rate };
}

type NormKind = 'LayerNorm' | 'RMSNorm';

function norm(
  kind: NormKind,
): Pick<OperationRules<typeof normSchemas.RMSNorm>, 'infer' | 'gradient' | 'python' | 'lower'> {
  return {
    infer: ({ attributes, inputs: [{ shape }, ...factors], outputs }) => {
      const rows = shape?.slice(0, normAxes(attributes, shape.length)[0]) ?? null;
      broadcastTo(shape, factors);
      return outputs.map((_, n) => (n === 0 ? shape : rows));
    },
    gradient: call => normGradient(kind, call),
    python: ({ attributes, inputs: [{ shape }], outputs }) => {
      if (!shape || outputs.length > 1) return null;
      const whole = normAxes(attributes, shape.length);
      const name = kind === 'RMSNorm' ? 'rms_norm' : 'layer_norm';
      return { name, whole, options: { axes: whole.length, epsilon: attributes.epsilon } };
    },
    lower: (lowering, { attributes }) => {
      const [src, gamma, beta] = lowering.inputs;
      const [dst, ...rows] = lowering.outputs;
      const { mean, variance, rate } = moments(lowering, attributes, {
        centred: kind === 'LayerNorm',
        keepsVariance: rows.length > 0,
      });
      const normal = mul(sub(input(0), input(1)), input(2));
      const scaled = gamma ? mul(normal, input(3)) : normal;
      const inputs = [src, mean, rate, ...(gamma ? [gamma] : []), ...(beta ? [beta] : [])];
      lowering.map(beta ? add(scaled, input(4)) : scaled, inputs, dst);
      if (variance === null) return;
      for (const [n, row] of [mean, variance].entries()) {
        lowering.copy(lowering.reshaped(row, rows[n].desc.shape), rows[n]);
      }
    },
  };
}

function normBackward(kind: NormKind): OperationRules<typeof backward> {
  return {
    infer: ({ attributes, inputs: [{ shape }, ...others] }) => {
      if (shape) normAxes(attributes, shape.length);
      return [broadcastTo(shape, others)];
    },
    lower: (lowering, { attributes }) => lowerBackward(lowering, attributes, kind === 'LayerNorm'),
  };
}

/** dx = r·(dŷ − mean(dŷ) − x̂·mean(dŷ∘x̂)) with dŷ = dy∘γ; without the mean of dŷ if x is not centred. */
function lowerBackward(lowering: Lowering, attributes: NormAttributes, centred: boolean): void {
  const [src, dy, gamma] = lowering.inputs;
  const { mean, rate } = moments(lowering, attributes, { centred, keepsVariance: false });
  const inputs = [src, dy, mean, rate, ...(gamma ? [gamma] : [])];
  const slope = gamma ? mul(input(1), input(4)) : input(1);
  const normal = mul(sub(input(0), input(2)), input(3));
  const slopeMean = centred ? meanOf(lowering, attributes, inputs, slope) : zeroOf(lowering, src);
  const product = meanOf(lowering, attributes, inputs, mul(slope, normal));
  const n = inputs.length;
  const value = mul(input(3), sub(sub(slope, input(n)), mul(normal, input(n + 1))));
  lowering.map(value, [...inputs, slopeMean, product], lowering.outputs[0]);
}

function normGradient(
  kind: NormKind,
  { builder, attributes, inputs, outputGradients: [dy, dMean, dVariance] }: GradientCall<NormAttributes>,
): readonly (InputGradient | null)[] {
  const [src, gamma, beta] = inputs;
  const shape = builder.shapeOf(src);
  const options = { epsilon: attributes.epsilon, begin_norm_axis: attributes.begin_norm_axis };
  const x = ({ dtype }: LogicalTensor): LogicalTensor => builder.cast(builder.forward(src), dtype);
  const axes = normAxes(attributes, shape.length);
  const count = axes.reduce((n, d) => n * shape[d], 1);
  /** One number per row, broadcast to the elements of the row and divided by `divisor`. */
  const spread = (row: LogicalTensor, divisor: number): LogicalTensor => {
    const column = builder.reshape(row, keptShape(shape, axes));
    return builder.op('BroadcastLike', [column, x(row)], { divisor });
  };
  const byDst = (dst: LogicalTensor): LogicalTensor =>
    builder.op(`${kind}Backward`, [x(dst), dst, ...(gamma ? [builder.forward(gamma)] : [])], options);
  // ∂ variance / ∂ x = 2·(x − mean) / count, because the terms from ∂ mean / ∂ x sum to 0.
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

/** Operations that normalise rows. */
export const normOperations: readonly Operation[] = defineOperations(normSchemas, {
  /**
   * (x − mean) / √(variance + epsilon)·gamma + beta over the dimensions from begin_norm_axis on. With
   * keep_stats, mean and variance are results too.
   */
  LayerNorm: {
    ...norm('LayerNorm'),
    constraint: ({ attributes: { keep_stats }, outputs }) => {
      const expected = keep_stats ? 3 : 1;
      return outputs.length === expected
        ? null
        : `has ${expected} outputs when keep_stats is ${keep_stats}, got ${outputs.length}`;
    },
    firstOutput: attributes => ({ ...attributes, keep_stats: false }),
  },
  /** The gradient of LayerNorm with respect to src. */
  LayerNormBackward: normBackward('LayerNorm'),
  /**
   * x / √(mean of x² + epsilon)·gamma over the dimensions from begin_norm_axis on. Not an operation of
   * oneDNN.
   */
  RMSNorm: norm('RMSNorm'),
  /** The gradient of RMSNorm with respect to src. */
  RMSNormBackward: normBackward('RMSNorm'),
});
