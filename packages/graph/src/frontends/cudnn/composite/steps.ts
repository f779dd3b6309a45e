import type { Fp8ScalarName } from '@tilewise/core';
import { type Fp8StepName, type fp8AmaxNames, fp8Steps } from '@tilewise/core/engine';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { OpWriter } from '../op-writer.ts';

/** The steps before and after the products of attention: casts, or the steps of FP8. */
export interface CompositeSteps {
  /** Converts a stored tensor to an operand of products. */
  operand(tensor: LogicalTensor): LogicalTensor;
  /** Applies a step of the FP8 contract to an operand or a result of a product. */
  apply(step: Fp8StepName, tensor: LogicalTensor): LogicalTensor;
  /** Converts a result to its stored dtype. */
  stored(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** The steps of attention without FP8. */
export function plainSteps({ cast }: OpWriter): CompositeSteps {
  return { operand: t => t, apply: (_, t) => t, stored: cast };
}

/** The amax results by name, f32 (1, 1, 1, 1). */
export type Amaxes = Readonly<Partial<Record<(typeof fp8AmaxNames)[number], LogicalTensor>>>;

/** The scalars of a node; P and dS are rounded to the dtype of q. */
export interface Fp8Scalars extends Readonly<Partial<Record<Fp8ScalarName, LogicalTensor>>> {
  readonly q: LogicalTensor;
}

/**
 * The steps of FP8 as operations: Multiply by scalars, ReduceMax of magnitudes, and Quantize and Dequantize
 * with scale 1 to round.
 * @param rank the rank of the tensors.
 * @param measured the names of the amax values that are results.
 */
export function fp8CompositeSteps(
  { op, reshape, cast }: OpWriter,
  scalars: Fp8Scalars,
  rank: number,
  measured: readonly (typeof fp8AmaxNames)[number][],
): CompositeSteps & { readonly amaxes: Amaxes } {
  const amaxes: Record<string, LogicalTensor> = {};
  const by1 = { qtype: 'per_tensor', scales: [1] };
  const quantize = (t: LogicalTensor, dtype: GraphDType): LogicalTensor => op('Quantize', [t], by1, dtype);
  const dequantize = (t: LogicalTensor): LogicalTensor => op('Dequantize', [t], by1, 'f32', t.shape);
  const times = (t: LogicalTensor, name: Fp8ScalarName): LogicalTensor => {
    const scalar = scalars[name];
    return scalar ? op('Multiply', [t, scalar]) : t;
  };
  const largest = (t: LogicalTensor): LogicalTensor => {
    const axes = Array.from({ length: rank }, (_, d) => d);
    const one = op('ReduceMax', [op('Abs', [t])], { axes, keep_dims: true });
    return rank === 4 ? one : reshape(one, [1, 1, 1, 1]);
  };
  return {
    amaxes,
    operand: t => (isFp8(t.dtype) ? dequantize(t) : cast(t, 'f32')),
    apply(step: Fp8StepName, t) {
      const { descales = [], amax, scale, rounds } = fp8Steps[step];
      const meant = descales.reduce(times, t);
      if (amax && measured.includes(amax)) amaxes[amax] = largest(meant);
      const scaled = scale ? times(meant, scale) : meant;
      return rounds ? dequantize(quantize(scaled, scalars.q.dtype)) : scaled;
    },
    stored: (t, dtype) => (isFp8(dtype) ? quantize(t, dtype) : cast(t, dtype)),
  };
}

/** Whether a dtype is an 8-bit float. */
export function isFp8(dtype: GraphDType): boolean {
  return dtype === 'f8e4m3' || dtype === 'f8e5m2';
}
