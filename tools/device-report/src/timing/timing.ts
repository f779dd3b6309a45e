/** Wall-clock times of one piece of work, in milliseconds. */
export interface Timing {
  readonly median: number;
  readonly min: number;
  readonly repeats: number;
}

export interface TimingOptions {
  /** The number of runs before the clock starts; default 1, because the first run compiles. */
  readonly warmUp?: number;
  /** The least number of timed runs; default 3. */
  readonly repeats?: number;
  /** The total time to spend in milliseconds; default 500, so that short work runs more often. */
  readonly ms?: number;
}

/** Times `work`, whose promise must resolve when the work is done. */
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

/** The median and the smallest of at least one time. */
export function summary(times: readonly number[]): Timing {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], repeats: times.length };
}
