import { Tensor } from '@tilewise/core';
import { expect } from 'vitest';

/** The shape (B, H, S, D) in the examples. */
export const shape = [1, 2, 24, 16] as const;
export const count = 1 * 2 * 24 * 16;
export const bytes = 4 * count;

/** Values that differ at every position. */
export const values = (seed: number): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length: count }, (_, n) => Math.sin(seed + 0.37 * n));

export const tensor = (seed: number, factor = 1): Tensor =>
  Tensor.from(
    values(seed).map(x => factor * x),
    shape,
  );

/** The f32 tolerance for scores of this size: 2e-5 of the largest value. */
export function expectClose(got: ArrayLike<number>, want: Tensor): void {
  const exact = want.toFloat64();
  const error = exact.reduce((most, x, n) => Math.max(most, Math.abs(got[n] - x)), 0);
  expect(got.length).toBe(exact.length);
  expect(error).toBeLessThanOrEqual(2e-5 * Math.max(1, ...exact.map(Math.abs)));
}
