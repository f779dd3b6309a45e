import type { Tensor } from '@tilewise/core';
import type { Outcome } from '../../cases/case.ts';

/** The largest magnitude among the elements that count. */
export function largest(values: ArrayLike<number>, counts: (n: number) => boolean = () => true): number {
  let top = 0;
  for (let n = 0; n < values.length; n++) if (counts(n)) top = Math.max(top, Math.abs(values[n]));
  return top;
}

/**
 * The largest difference among the elements that count; NaN if one is not a number, or if the numbers of
 * elements differ.
 */
export function difference(
  got: ArrayLike<number>,
  wanted: ArrayLike<number>,
  counts: (n: number) => boolean = () => true,
): number {
  if (got.length !== wanted.length) return Number.NaN;
  let worst = 0;
  for (let n = 0; n < wanted.length; n++) {
    // `Math.max` keeps a NaN.
    if (counts(n)) worst = Math.max(worst, Math.abs(got[n] - wanted[n]));
  }
  return worst;
}

/** The largest of some errors, with what it is the error of; NaN counts as larger than any number. */
export function worstOf(errors: Iterable<readonly [what: string, error: number]>): {
  what: string;
  error: number;
} {
  let worst = { what: '', error: 0 };
  for (const [what, error] of errors) if (error > worst.error || Number.isNaN(error)) worst = { what, error };
  return worst;
}

/** An outcome from an error in units of its gate: 1 is the most that is allowed. */
export function within(error: number, what: string): Outcome {
  const passes = error <= 1;
  return {
    status: passes ? 'pass' : 'fail',
    error,
    reason: passes ? null : `${what} is ${error.toPrecision(3)} of its gate`,
  };
}

/**
 * How far logits are from the expected ones where the mask is 1, in units of a share of the largest logit.
 */
export function logitsError(got: Tensor, wanted: Tensor, mask: Tensor | null, share: number): number {
  const rows = mask?.toFloat32();
  const width = wanted.size / (rows?.length ?? wanted.size);
  const counts = (n: number): boolean => !rows || rows[Math.floor(n / width)] === 1;
  const values = wanted.toFloat32();
  return difference(got.toFloat32(), values, counts) / (share * largest(values, counts));
}
