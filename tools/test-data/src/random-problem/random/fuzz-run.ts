import { integerOf, runSeed } from './seed.ts';

/** The cases that one run of a fuzz test tries. */
export interface FuzzRun {
  readonly seed: number;
  readonly count: number;
  /** The test's time limit in ms: an option of Vitest's `test`. */
  readonly timeout: number;
}

/**
 * The seed and the number of cases that a fuzz test (mutated calls, graphs or files) tries. A usual run tries
 * `count` cases with `seed`, by default the seed of the run. With `TILEWISE_FUZZ=N`, as `.ci/release` sets
 * it, a run tries N times as many, always with the seed of the run. Name the seed in the title of the test.
 */
export function fuzzRun(count: number, seed?: number): FuzzRun {
  const factor = integerOf('TILEWISE_FUZZ');
  if (factor === undefined) return { seed: seed ?? runSeed(), count, timeout: 120_000 };
  return { seed: runSeed(), count: count * factor, timeout: 120_000 * factor };
}

/** Whether this run tries more than a usual one: `TILEWISE_FUZZ` is set, as `.ci/release` sets it. */
export function isFuzzing(): boolean {
  return integerOf('TILEWISE_FUZZ') !== undefined;
}
