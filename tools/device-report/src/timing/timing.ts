/** Wall-clock times of one piece of work, in milliseconds. */
export interface Timing {
  readonly median: number;
  readonly min: number;
  readonly repeats: number;
}

export interface TimingOptions {
  /** Runs before the clock starts, 1 by default: the first one compiles. */
  readonly warmUp?: number;
  /** At least so many timed runs, 3 by default. */
  readonly repeats?: number;
  /** Go on for so long, 500 by default, so that short work is run more often. */
  readonly ms?: number;
}

/** Times `work`, which must be done when its promise resolves. */
export async function time(work: () => unknown, options: TimingOptions = {}): Promise<Timing> {
  const { warmUp = 1, repeats = 3, ms = 500 } = options;
  for (let n = 0; n < warmUp; n++) await work();
  const times: number[] = [];
  for (let total = 0; times.length < repeats || total < ms; ) {
    const start = performance.now();
    await work();
    const took = performance.now() - start;
    times.push(took);
    total += took;
  }
  return summary(times);
}

/** Median and smallest of at least one time. */
export function summary(times: readonly number[]): Timing {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], repeats: times.length };
}
