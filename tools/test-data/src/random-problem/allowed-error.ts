import { errorOf } from '../golden/gate.ts';
import type { RandomProblem } from './random-problem.ts';

const forward: readonly string[] = ['o', 'lse', 'max', 'sumExp'];

/** The spacing of the stored values in [1, 2), for dtypes narrower than f32. */
const ulp: Readonly<Record<string, number>> = {
  f16: 2 ** -10,
  bf16: 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

/**
 * The error that a result of an engine that computes in f32 may have against the reference on the same
 * inputs, for random problems: their scores s stay below 80.
 *
 * Rounding s to f32 moves it by at most 80·2^-24 ≈ 5e-6, and each probability by as much, relative; it is by
 * far the largest error, as a dot product of a few dozen terms and `exp` add a few 2^-24 each. So o, lse, max
 * and sumExp get 1e-5·M, with M the largest value, at least 1. A gradient sums terms p·(dp − delta), of which
 * p and delta each have that error: 2e-5·M.
 *
 * dbias, dsink, dAlibi and gradients of captured tensors add such terms over rows, whose signs differ, so
 * that the sum may be small beside its terms; the errors of N rows, which are independent, add like √N.
 * dAlibi weighs each term by a distance.
 *
 * A result in fewer bits may be rounded to the neighbour: one unit in the last place more. A mask is exact.
 */
export function allowedError(
  name: string,
  dtype: string,
  exact: ArrayLike<number>,
  { tensors }: RandomProblem,
): number {
  if (name === 'dropoutMask') return 0;
  let M = 1;
  for (let n = 0; n < exact.length; n++) {
    if (Number.isFinite(exact[n])) M = Math.max(M, Math.abs(exact[n]));
  }
  const store = M * (ulp[dtype] ?? 0);
  if (forward.includes(name)) return 1e-5 * M + store;
  if (['dq', 'dk', 'dv'].includes(name)) return 2e-5 * M + store;
  const { q, k } = tensors;
  const rows = q.shape.slice(0, -1).reduce((n, extent) => n * extent, 1);
  const terms = Math.max(M, Math.sqrt(rows));
  const longest = Math.max(1, ...q.shape, ...k.shape);
  return 2e-5 * terms * (name === 'dAlibi' ? longest : 1) + store;
}

/** The largest difference; infinite if one of the two is NaN or infinite and the other is not the same. */
export function largestError(got: ArrayLike<number>, want: ArrayLike<number>): number {
  return errorOf(got, want).max;
}
