/**
 * Milliseconds by the wall clock, and milliseconds of processor time of all threads of this process, which
 * other processes do not increase.
 */
export interface Took {
  readonly wall: number;
  readonly cpu: number;
}

/** Starts a stopwatch; the function that it returns gives the time since. */
export function startStopwatch(): () => Took {
  const wall = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { wall: performance.now() - wall, cpu: (user + system) / 1e3 };
  };
}

/** The time of one of n equal pieces of work. */
export function perPiece({ wall, cpu }: Took, n: number): Took {
  return { wall: wall / n, cpu: cpu / n };
}
