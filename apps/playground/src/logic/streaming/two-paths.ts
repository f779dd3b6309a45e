/** How the factor that corrects the sum is written: exp(m − m′), or exp(m) / exp(m′). */
export type FactorForm = 'difference' | 'quotient';

/** Both sums after one more number, in 32-bit floats. */
export interface PathStep {
  readonly x: number;
  /** Σ exp(x − m) so far, with the maximum of all numbers. */
  readonly global: number;
  /** The running maximum. */
  readonly m: number;
  /** The factor that corrects the previous sum. */
  readonly factor: number;
  /** Σ exp(x − mₖ) so far, with the running maximum. */
  readonly running: number;
}

const f32 = Math.fround;
const exp = (value: number): number => f32(Math.exp(f32(value)));

/**
 * The sum of the exponentials of `x`, once with the maximum known beforehand and once with a running one
 * (Milakov & Gimelshein 2018).
 */
export function twoPaths(x: readonly number[], form: FactorForm): PathStep[] {
  const most = f32(Math.max(...x));
  const ratio = (a: number, b: number): number =>
    form === 'difference' ? exp(f32(a - b)) : f32(exp(a) / exp(b));
  const steps: PathStep[] = [];
  for (const value of x.map(f32)) {
    const before = steps.at(-1);
    const m = Math.max(before?.m ?? Number.NEGATIVE_INFINITY, value);
    // Before the first number, there is no sum to correct.
    const factor = before ? ratio(before.m, m) : 0;
    steps.push({
      x: value,
      global: f32((before?.global ?? 0) + exp(value - most)),
      m,
      factor,
      running: f32(f32((before?.running ?? 0) * factor) + ratio(value, m)),
    });
  }
  return steps;
}
