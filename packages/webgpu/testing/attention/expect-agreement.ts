import type { DType, Tensor } from '@tilewise/core';
import { errorOf } from '@tilewise/test-data';
import { expect } from 'vitest';
import type { Results } from './attention-call.ts';

/** The spacing of the stored values in [1, 2). */
const ulp: Readonly<Partial<Record<DType, number>>> = {
  f16: 2 ** -10,
  bf16: 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

const forward: readonly string[] = ['o', 'lse', 'max', 'sumExp'];

/**
 * The error that a result may have relative to the reference on the same inputs: the f32 gates of the golden
 * cases (1e-5 of the largest value forward, 2e-5 backward). They hold as long as scores stay below 80:
 * rounding a score to f32 changes its probability by a relative error of at most 80·2^-24 = 5e-6. For dAlibi
 * and for a captured slope, each score's gradient is multiplied by a distance of less than `distance` before
 * the sum. A result with fewer bits may round to the neighbour, which adds one unit in the last place.
 */
export function allowedError(name: string, exact: Tensor, { distance = 1 } = {}): number {
  const M = exact
    .toFloat64()
    .reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const gate = forward.includes(name) ? 1e-5 : 2e-5 * (/^(dAlibi|dCaptures\..*)$/.test(name) ? distance : 1);
  return M * (gate + (ulp[exact.dtype] ?? 0));
}

/** Expects all results of the reference, with their shapes, dtypes and values. */
export function expectAgreement(
  got: Results,
  exact: Results,
  options: { readonly distance?: number } = {},
): void {
  expect(Object.keys(got).sort()).toEqual(Object.keys(exact).sort());
  for (const [name, want] of Object.entries(exact)) {
    expect([got[name].shape, got[name].dtype], name).toEqual([want.shape, want.dtype]);
    const error = errorOf(got[name].toFloat64(), want.toFloat64());
    expect(error.max, `${name}, largest error`).toBeLessThanOrEqual(allowedError(name, want, options));
  }
}

/** Expects results with the same bits. */
export function expectSameBits(got: Results, want: Results, names = Object.keys(want)): void {
  for (const name of names) {
    expect(got[name].shape, name).toEqual(want[name].shape);
    expect(bitsOf(got[name]), name).toEqual(bitsOf(want[name]));
  }
}

/** The stored bits in row-major order, in which NaNs may differ, and −0 differs from 0. */
export function bitsOf(t: Tensor): Uint8Array {
  const { data } = t.contiguous();
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
