import {
  describeProblem,
  isFuzzing,
  onlyProblem,
  type RandomProblems,
  randomProblems,
  rerunCommand,
  runSeed,
} from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import type { GpuContext } from '../../src/index.ts';
import { sharedContext } from '../device/shared-context.ts';
import { disagreements, isSupported } from './random-problem.ts';

/**
 * Nearly all of the time is spent compiling kernels, on one thread. Divided into parts, the tests compile in
 * as many processes as there are cores.
 */
const parts = 4;

let drawn: RandomProblems | undefined;

function problemsOf(ctx: GpuContext, seed: number): RandomProblems {
  drawn ??= randomProblems(seed, { atLeast: 500, admits: problem => isSupported(ctx, problem) });
  return drawn;
}

/**
 * How many structures a run tests: a usual run the first half, because the structures are drawn so that each
 * covers as many new pairs of values as possible, and this half has 94 % of them. The other half compiles
 * just as long; `.ci/release` tests both. The CPU's tests of random problems have all pairs in every run.
 */
const testedStructures = ({ structures }: RandomProblems): number =>
  isFuzzing() || onlyProblem() !== undefined ? structures.length : Math.ceil(structures.length / 2);

/**
 * Tests one part, 1 to 4, of the random problems of this run's seed: every fourth of the structures that the
 * run tests, with all its problems.
 */
export async function testRandomProblems(part: 1 | 2 | 3 | 4): Promise<void> {
  const ctx = await sharedContext();
  const seed = runSeed();
  const only = onlyProblem();
  const problems = problemsOf(ctx, seed);
  const each = problems.count / problems.structures.length;
  const tested = testedStructures(problems);
  const structures = problems.structures
    .slice(0, tested)
    .map((structure, n) => ({ n, structure }))
    .filter(({ n }) => n % parts === part - 1);

  test('this is a part of at least 250', () => {
    expect(tested * each).toBeGreaterThanOrEqual(250);
    if (part > 1) return;
    console.log(`${tested * each} random problems, TILEWISE_SEED=${seed}`);
    const { unknown, impossible } = problems;
    if (unknown.length > 0) console.log(`Not on WebGPU: ${unknown.join(', ')}`);
    if (impossible.length > 0) console.log(`Not together on this device: ${impossible.join('; ')}`);
  });

  test.each(structures)(`seed ${seed}, structure $n agrees with the reference`, async ({ n }) => {
    for (let number = n * each; number < (n + 1) * each; number++) {
      if (only !== undefined && number !== only) continue;
      const problem = problems.problem(number);
      const again = rerunCommand('packages/webgpu/src/attention/random-problems', seed, number);
      const label = `${describeProblem(problem)}\nAgain: ${again}\n`;
      expect(await disagreements(ctx, problem), label).toEqual([]);
    }
  });
}
