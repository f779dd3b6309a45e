import {
  describeProblem,
  onlyProblem,
  randomProblems,
  rerunCommand,
  runSeed,
} from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { disagreements, isSupported } from '../../testing/random-problem.ts';
import { sharedContext } from '../../testing/shared-context.ts';

const seed = runSeed();
const only = onlyProblem();
const ctx = await sharedContext();
const problems = randomProblems(seed, { atLeast: 500, admits: problem => isSupported(ctx, problem) });
const numbers = Array.from({ length: problems.count }, (_, n) => n);
const each = problems.count / problems.structures.length;

test('there are at least 500', () => {
  expect(problems.count).toBeGreaterThanOrEqual(500);
  console.log(`${problems.count} random problems, TILEWISE_SEED=${seed}`);
  const { unknown, impossible } = problems;
  if (unknown.length > 0) console.log(`Not on WebGPU: ${unknown.join(', ')}`);
  if (impossible.length > 0) console.log(`Not together on this device: ${impossible.join('; ')}`);
});

test.each(problems.structures.map((structure, n) => ({ n, structure })))(
  `seed ${seed}, structure $n agrees with the reference`,
  async ({ n }) => {
    const chosen = numbers.slice(n * each, (n + 1) * each).filter(one => only === undefined || one === only);
    for (const number of chosen) {
      const problem = problems.problem(number);
      const again = rerunCommand('packages/webgpu/src/attention/random-problems', seed, number);
      const label = `${describeProblem(problem)}\nAgain: ${again}\n`;
      expect(await disagreements(ctx, problem), label).toEqual([]);
    }
  },
);
