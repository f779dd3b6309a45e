import { integerOf, runSeed } from './seed.ts';

/** What one run of a fuzz test tries. */
export interface FuzzRun {
  readonly seed: number;
  readonly count: number;
  /** The time that the test may take, in ms: an option of Vitest's `test`. */
  readonly timeout: number;
}

/**
 * The seed and the number of the cases that a fuzz test (mutated calls, graphs or files) tries. A usual run
 * tries `count` cases of `seed`, by default the seed of the run. With `TILEWISE_FUZZ=N`, as `.ci/release`
 * sets it, a run tries N times as many, of the seed of the run whatever `seed` is. Name the seed in the title
 * of the test.
 */
export function fuzzRun(count: number, seed?: number): FuzzRun {
  const factor = integerOf('TILEWISE_FUZZ');
  if (factor === undefined) return { seed: seed ?? runSeed(), count, timeout: 120_000 };
  return { seed: runSeed(), count: count * factor, timeout: 120_000 * factor };
}
