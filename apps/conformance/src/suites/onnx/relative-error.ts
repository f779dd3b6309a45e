/** Logits within 1e-4, and every weight gradient within 1e-3, of the largest number. */
export const limits = { logits: 1e-4, gradient: 1e-3 } as const;

/**
 * The largest difference of a result relative to the largest expected number, or to `least` if that is
 * larger.
 */
export function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>, least = 0): number {
  let [worst, largest] = [0, least];
  for (let n = 0; n < expected.length; n++) {
    largest = Math.max(largest, Math.abs(expected[n]));
    const difference = Math.abs(expected[n] - got[n]);
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
  }
  return largest === 0 ? worst : worst / largest;
}
