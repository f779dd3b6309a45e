import type { DType, Tensor } from '@tilewise/core';

/** The allowed error of results: four roundings of their dtype, and in f32 the rounding of sums. */
const allowed: Readonly<Partial<Record<DType, number>>> = { f32: 3e-5, f16: 2 ** -9, bf16: 2 ** -6 };

/** Whether a result is right, from its error. */
export function isRight(error: number, dtype: DType): boolean {
  return error <= (allowed[dtype] ?? 0);
}

/** The largest difference between two tensors of one shape, relative to the largest number. */
export function errorOf(got: Tensor, exact: Tensor): number {
  const [a, b] = [got.toFloat32(), exact.toFloat32()];
  let worst = 0;
  let largest = 1e-30;
  for (let n = 0; n < b.length; n++) {
    const [x = Number.NaN, y = Number.NaN] = [a[n], b[n]];
    // NaN must not count as small.
    const apart = Math.abs(x - y);
    if (!(apart <= worst)) worst = apart;
    largest = Math.max(largest, Math.abs(y));
    if (Number.isNaN(worst)) return Number.POSITIVE_INFINITY;
  }
  return worst / largest;
}
