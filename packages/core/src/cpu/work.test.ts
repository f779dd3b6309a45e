import { expect, test } from 'vitest';
import { normalise } from '../attention/normalise.ts';
import type { AttentionProblem } from '../attention/problem.ts';
import { Tensor } from '../tensor/tensor.ts';
import { forwardWork, type RowsTask } from './work.ts';

const tiles = { rows: 64, columns: 128 };

function problemOf(B: number, Hq: number, Hkv: number, S: number): AttentionProblem {
  const [q, k] = [Hq, Hkv].map(H => Tensor.zeros([B, H, S, 1]));
  return normalise({ q, k, v: k }).problem;
}

function forwardTasks(problem: AttentionProblem, threads: number): RowsTask[] {
  const { count, task } = forwardWork(problem, tiles, threads);
  return Array.from({ length: count }, (_, n) => task(n));
}

test.each([1, 2, 3, 16])('forward computes each row once on %i threads', threads => {
  const problem = problemOf(2, 6, 2, 200);
  const rows = forwardTasks(problem, threads).flatMap(({ b, first, end, from, to }) => {
    const heads = Array.from({ length: end - first }, (_, n) => first + n);
    return heads.flatMap(h => Array.from({ length: to - from }, (_, n) => `${b} ${h} ${from + n}`));
  });
  // The last tile of a head has room for more rows than there are.
  expect(new Set(rows).size).toBe(2 * 6 * 256);
  expect(rows.length).toBe(2 * 6 * 256);
});

test('the first heads are computed by one thread each, the last ones in ever smaller tasks, later rows first', () => {
  const sizes = forwardTasks(problemOf(1, 6, 6, 512), 2).map(({ first, from, to }) => [
    first,
    from / 64,
    to / 64,
  ]);
  expect(sizes.slice(0, 3)).toEqual([0, 1, 2].map(h => [h, 0, 8]));
  expect(sizes.slice(-6)).toEqual([
    [5, 6, 8],
    [5, 4, 6],
    [5, 3, 4],
    [5, 2, 3],
    [5, 1, 2],
    [5, 0, 1],
  ]);
});

test('a single head keeps two threads busy until the end', () => {
  const sizes = forwardTasks(problemOf(1, 1, 1, 4096), 2).map(({ from, to }) => (to - from) / 64);
  expect(sizes).toEqual([16, 12, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1]);
});
