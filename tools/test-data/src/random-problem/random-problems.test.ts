import { describe, expect, test } from 'vitest';
import {
  allowedError,
  describeProblem,
  type RandomProblem,
  randomCall,
  randomOptions,
  randomProblems,
} from './index.ts';

const all = randomProblems(1, { atLeast: 500 });
const problems = Array.from({ length: all.count }, (_, n) => all.problem(n));

describe('random problems', { timeout: 60_000 }, () => {
  test('are as many as requested, a few of each structure', () => {
    expect(all.count).toBeGreaterThanOrEqual(500);
    expect(all.count % all.structures.length).toBe(0);
    expect(all.structures.length).toBeLessThan(120);
  });

  test('every pair of values of two options occurs, unless they exclude each other', () => {
    const met = new Set<string>();
    const label = (name: string, value: unknown): string => `${name} ${JSON.stringify(value)}`;
    for (const { choice } of problems)
      for (const a of randomOptions)
        for (const b of randomOptions)
          met.add(`${label(a.name, choice[a.name])} × ${label(b.name, choice[b.name])}`);
    const unmet = randomOptions.flatMap((a, n) =>
      randomOptions
        .slice(n + 1)
        .flatMap(b => a.values.flatMap(x => b.values.map(y => `${label(a.name, x)} × ${label(b.name, y)}`))),
    );
    const excluded = new Set(all.impossible);
    expect(unmet.filter(pair => !met.has(pair) && !excluded.has(pair))).toEqual([]);
    // Some pairs cannot occur: pages need lengths of keys and exclude gradients, a gradient needs the option
    // that it is the gradient of, and starts need cumulative lengths.
    expect(
      all.impossible.filter(pair => !/pages|starts "|gradients "d(bias|sink|Alibi)"/.test(pair)),
    ).toEqual([]);
  });

  test('follow only from the seed and the number', () => {
    const again = randomProblems(1, { atLeast: 500 });
    expect(again.problem(123)).toEqual(problems[123]);
    expect(again.problem(124)).not.toEqual(problems[123]);
    expect(randomProblems(2, { atLeast: 500 }).problem(123)).not.toEqual(problems[123]);
  });

  test('of one structure have the numbers of heads in common, on which kernels depend', () => {
    const each = all.count / all.structures.length;
    for (let first = 0; first < all.count; first += each) {
      const dense = problems.slice(first, first + each).filter(({ tensors }) => tensors.q.shape.length === 4);
      expect(new Set(dense.map(({ tensors }) => tensors.q.shape.at(1))).size).toBeLessThanOrEqual(1);
    }
  });

  test('have the structures that the engine admits', () => {
    const admits = ({ choice }: RandomProblem): boolean => choice.bias === null && choice.dtype !== 'f16';
    const some = randomProblems(1, { atLeast: 1, admits });
    expect(some.structures.every(({ bias, dtype }) => bias === null && dtype !== 'f16')).toBe(true);
    expect(some.unknown).toContain('dtype "f16"');
  });

  test('have empty and full sequences, garbage after them, and gaps', () => {
    const has = (holds: (problem: RandomProblem) => boolean): boolean => problems.some(holds);
    expect(has(({ options }) => Array.isArray(options.seqLensKv) && options.seqLensKv.includes(0))).toBe(
      true,
    );
    expect(has(({ tensors }) => Number.isNaN(tensors.k.data[tensors.k.data.length - 1]))).toBe(true);
    expect(has(({ tensors }) => tensors.q.strides.includes(2 ** 20 + 3))).toBe(true);
    expect(has(({ tensors }) => tensors.v.strides.at(-1) === 2)).toBe(true);
    expect(has(({ tensors }) => tensors.q.shape.includes(0))).toBe(true);
    expect(has(({ tensors }) => tensors.q.offset > 0)).toBe(true);
  });

  test('are described with their special options', () => {
    expect(describeProblem(problems[7])).toMatch(/^problem 7 of seed 1: q \[[\d,]+\], k \[/);
  });
});

test('a random problem as a call has the tensors of the caller', () => {
  const problem = problems.find(({ options }) => options.bias && options.scoreMod);
  if (!problem) expect.fail('no problem has a bias and a score mod');
  const call = randomCall(
    problem,
    ({ dtype, shape }) => `${dtype}[${shape}]`,
    expr => ({ expr, made: true }),
  );
  expect(call.q).toBe(`${problem.tensors.q.dtype}[${problem.tensors.q.shape}]`);
  expect(call.options).toHaveProperty('bias', expect.stringMatching(/^(f32|f16|bf16)\[/));
  expect(call.options).toHaveProperty('scoreMod.expr.kind', 'binary');
  expect(call.options).toHaveProperty('scoreMod.made', true);
});

test('the allowed error grows with the values, and with the terms of a sum', () => {
  const [problem] = problems;
  expect(allowedError('o', 'f32', [1e-3], problem)).toBe(1e-5);
  expect(allowedError('o', 'f32', [-20, -Infinity], problem)).toBeCloseTo(2e-4, 12);
  expect(allowedError('dq', 'bf16', [1], problem)).toBeCloseTo(2e-5 + 2 ** -7, 12);
  expect(allowedError('dbias', 'f32', [1], problem)).toBeGreaterThanOrEqual(2e-5);
  expect(allowedError('dropoutMask', 'u8', [1], problem)).toBe(0);
});
