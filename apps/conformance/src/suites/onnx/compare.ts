import { type DType, sameShape, type Tensor } from '@tilewise/core';
import type { Outcome } from '../../cases/case.ts';

/** The significant bits of a float, including the hidden one. */
const precision: Readonly<Partial<Record<DType, number>>> = { f16: 11, bf16: 8, f8e4m3: 4, f8e5m2: 3 };

/**
 * The allowed difference of an element: ONNX's own gate for f32; for 16-bit floats, two units in the last
 * place of the largest value.
 */
function allowed(expected: Tensor, values: ArrayLike<number>): (x: number) => number {
  const { dtype } = expected;
  if (dtype === 'f32') return x => 1e-5 + 1e-3 * Math.abs(x);
  const bits = precision[dtype];
  if (bits === undefined) return () => 0;
  const largest = Array.from(values).reduce((m, x) => (Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m), 0);
  const unit = largest === 0 ? 0 : 2 ** (Math.floor(Math.log2(largest)) + 1 - bits);
  return () => 2 * unit;
}

/**
 * Compares a result with the expected one. The error is the largest difference as a multiple of the allowed
 * one. NaN matches NaN, and an infinity the same infinity.
 */
export function compareTensors(name: string, got: Tensor, expected: Tensor): Outcome {
  if (!sameShape(got.shape, expected.shape))
    return {
      status: 'fail',
      error: null,
      reason: `${name} has shape [${got.shape}], expected [${expected.shape}]`,
    };
  if (got.dtype !== expected.dtype)
    return { status: 'fail', error: null, reason: `${name} is ${got.dtype}, expected ${expected.dtype}` };
  const [values, wanted] = [got.toFloat64(), expected.toFloat64()];
  const limit = allowed(expected, wanted);
  let worst = 0;
  let where = -1;
  wanted.forEach((want, n) => {
    const value = values[n] ?? Number.NaN;
    if (Object.is(value, want) || value === want) return;
    const difference = Math.abs(value - want);
    const error = Number.isFinite(want) && !Number.isNaN(difference) ? difference / limit(want) : Infinity;
    if (error > worst) [worst, where] = [error, n];
  });
  return {
    status: worst <= 1 ? 'pass' : 'fail',
    error: worst,
    reason: worst <= 1 ? null : `${name}[${where}] is ${values[where]}, expected ${wanted[where]}`,
  };
}
