import type { DType, Tensor } from '@tilewise/core';
import { errorOf } from '@tilewise/test-data';
import { expect } from 'vitest';
import type { Results } from './attention-call.ts';

/** Spacing of the stored values in [1, 2). */
const ulp: Readonly<Partial<Record<DType, number>>> = {
  f16: 2 ** -10,
  bf16: 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

const forward: readonly string[] = ['o', 'lse', 'max', 'sumExp'];

/**
 * The error that a result may have against the reference on the same inputs: the f32 gates of the golden
 * cases (1e-5 of the largest value forward, 2e-5 backward), which hold as long as scores stay below 80:
 * rounding those to f32 moves each probability by at most 80·2^-24 = 5e-6, relative. dAlibi, and a captured
 * slope, weigh each score's gradient by a distance, of less than `distance`, before they sum. A result in
 * fewer bits may round to the neighbour: one unit in the last place more.
 */
export function allowedError(name: string, exact: Tensor, { distance = 1 } = {}): number {
  const M = exact
    .toFloat64()
    .reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const gate = forward.includes(name) ? 1e-5 : 2e-5 * (/^(dAlibi|dCaptures\..*)$/.test(name) ? distance : 1);
  return M * (gate + (ulp[exact.dtype] ?? 0));
}

/** Expects every result of the reference, in shape, dtype and value. */
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

/** Expects the same bits. */
export function expectSameBits(got: Results, want: Results, names = Object.keys(want)): void {
  for (const name of names) {
    expect(got[name].shape, name).toEqual(want[name].shape);
    expect(bitsOf(got[name]), name).toEqual(bitsOf(want[name]));
  }
}

/** The stored bits in row-major order: NaN differs from NaN, and −0 from 0. */
export function bitsOf(t: Tensor): Uint8Array {
  const { data } = t.contiguous();
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
