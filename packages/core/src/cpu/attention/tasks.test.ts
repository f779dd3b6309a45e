import { expect, test } from 'vitest';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { AttentionProblem, BackwardProblem } from '../../attention/problem/problem.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { backwardTasks, forwardTasks } from './tasks.ts';

const tiles = { rows: 64, columns: 128 };

function problemOf(B: number, Hq: number, Hkv: number, S: number): AttentionProblem {
  const [q, k] = [Hq, Hkv].map(H => Tensor.zeros([B, H, S, 1]));
  return normalise({ q, k, v: k }).problem;
}

test.each([1, 2, 3, 16])('forward computes each row once on %i threads', threads => {
  const problem = problemOf(2, 6, 2, 200);
  const rows = forwardTasks(problem, tiles, threads).flatMap(({ b, first, end, from, to }) => {
    const heads = Array.from({ length: end - first }, (_, n) => first + n);
    return heads.flatMap(h => Array.from({ length: to - from }, (_, n) => `${b} ${h} ${from + n}`));
  });
  // The last tile of a head is larger than the number of remaining rows.
  expect(new Set(rows).size).toBe(2 * 6 * 256);
  expect(rows.length).toBe(2 * 6 * 256);
});

test('one thread computes each of the first heads; the last heads are cut into smaller and smaller tasks, later rows first', () => {
  const sizes = forwardTasks(problemOf(1, 6, 6, 512), tiles, 2).map(({ first, from, to }) => [
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
  const sizes = forwardTasks(problemOf(1, 1, 1, 4096), tiles, 2).map(({ from, to }) => (to - from) / 64);
  expect(sizes).toEqual([16, 12, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1]);
});

function backwardProblemOf(Hq: number, Hkv: number, S: number): BackwardProblem {
  const [q, k] = [Hq, Hkv].map(H => Tensor.zeros([1, H, S, 1]));
  const lse = Tensor.zeros([1, Hq, S]);
  return normaliseBackward({ q, k, v: k, o: q, lse, dO: q }).problem;
}

test.each([1, 2, 3, 16])('backward computes each tile of keys once on %i threads', threads => {
  const work = backwardTasks(backwardProblemOf(6, 2, 2000), tiles, threads);
  const computed = work.tasks.flatMap(({ group, firstTile, endTile }) =>
    Array.from({ length: endTile - firstTile }, (_, n) => `${group} ${firstTile + n}`),
  );
  expect(new Set(computed).size).toBe(2 * 16);
  expect(computed.length).toBe(2 * 16);
});

test('one thread does not cut the keys of a head; several threads share the keys of the last heads, in the sections in which dq is summed', () => {
  const problem = backwardProblemOf(5, 5, 1024);
  const one = backwardTasks(problem, tiles, 1);
  expect(one.tasks.map(({ endTile }) => endTile)).toEqual(new Array(5).fill(8));
  const three = backwardTasks(problem, tiles, 3);
  expect(three.sections).toEqual(one.sections);
  const cut = three.tasks.filter(({ part }) => part);
  expect(new Set(cut.map(({ group }) => group))).toEqual(new Set([3, 4]));
  expect(cut.map(({ part }) => part?.slot)).toEqual(Array.from({ length: three.slots }, (_, n) => n));
  for (const { firstTile, endTile } of cut) {
    const within = three.sections.filter(s => s.firstTile >= firstTile && s.endTile <= endTile);
    expect(within[0]?.firstTile).toBe(firstTile);
    expect(within.at(-1)?.endTile).toBe(endTile);
    if (firstTile > 0) expect(within.length).toBe(1);
  }
});

test('the dq of long sequences has few sections, so that parts of it take little memory', () => {
  const count = (S: number): number => backwardTasks(backwardProblemOf(1, 1, S), tiles, 16).slots;
  expect([512, 4096, 32_768].map(count)).toEqual([4, 8, 9]);
});
