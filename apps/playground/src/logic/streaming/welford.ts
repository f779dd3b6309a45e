/** The mean of the numbers so far, and the sum of their squared distances from it. */
export interface Moments {
  readonly n: number;
  readonly mean: number;
  readonly m2: number;
}

/** One step of Welford's algorithm: the number, its distance from the old mean, and the state after it. */
export interface WelfordStep extends Moments {
  readonly x: number;
  readonly delta: number;
}

/** δ = x − mean; mean += δ/n; M₂ += δ·(x − new mean). The variance is M₂ / (n − 1). */
export function welford(x: readonly number[]): WelfordStep[] {
  const steps: WelfordStep[] = [];
  for (const value of x) {
    const { n, mean, m2 }: Moments = steps.at(-1) ?? { n: 0, mean: 0, m2: 0 };
    const delta = value - mean;
    const moved = mean + delta / (n + 1);
    steps.push({ x: value, delta, n: n + 1, mean: moved, m2: m2 + delta * (value - moved) });
  }
  return steps;
}
