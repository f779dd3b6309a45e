import type { DType, Fp8ScalarName } from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';

/** Scalars of cuDNN's FP8 contract as numbers. */
export type Fp8Numbers = { [N in Fp8ScalarName]?: number };

/**
 * The value to which cuDNN's tests scale the largest element of a tensor: a quarter of a power of two that
 * the format can hold.
 */
const targets: Readonly<Partial<Record<DType, number>>> = { f8e4m3: 0.25 * 128, f8e5m2: 0.25 * 32768 };

/** The scale that cuDNN's tests give a tensor with this largest magnitude; 1 for dtypes that need none. */
export function fp8Scale(dtype: DType, amax: number): number {
  const target = targets[dtype];
  return target === undefined ? 1 : target / 2 ** Math.ceil(Math.log2(Math.max(amax, 1 / 16)));
}

export function largest(values: Float64Array): number {
  return values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}

/**
 * The scale of P, which is at most 1 without dropout, and its inverse; the case's own values take precedence.
 */
export function probabilityScales({ dtype, flags }: Concrete): Fp8Numbers {
  const scaleS = flags.scale_s ?? fp8Scale(dtype, 1);
  return { scaleS, descaleS: 1 / scaleS };
}

/** The scale with which a result is stored: the stored value times 1/scale is the result. */
export function storedScale(result: string, fp8: Fp8Numbers | null): number {
  const scales: Readonly<Record<string, number | undefined>> = {
    o: fp8?.scaleO,
    dq: fp8?.scaleDQ,
    dk: fp8?.scaleDK,
    dv: fp8?.scaleDV,
  };
  return scales[result] ?? 1;
}
