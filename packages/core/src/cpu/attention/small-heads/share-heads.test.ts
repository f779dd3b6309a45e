import { expect, test, vi } from 'vitest';
import { createEngineKernels } from '../../kernels/engine-kernels.ts';
import { bestVariant } from '../../kernels/host-kernels.ts';
import { TASK_WORDS, type TaskList } from '../../team/tasks.ts';

// Other test files replace modules, and the files share what is loaded: these two must know one
// WorkerFailure.
vi.resetModules();
const { WorkerFailure } = await import('../../threads/pool.ts');
const { shareHeads } = await import('./share-heads.ts');

const kernels = createEngineKernels(bestVariant());
const work = { pass: 'forwardHeads', heads: 10, multiplications: 2 ** 21, write: () => 64 } as const;

function fakeTeam(run: (tasks: TaskList) => void) {
  return { threads: 2, isAwake: false, disband() {}, run: (_: unknown, tasks: TaskList) => run(tasks) };
}

test('tasks cover all heads once, and have numbers for all threads', () => {
  const seen: number[] = [];
  const write = vi.fn(() => 64);
  const team = fakeTeam(({ at, count: tasks }) => {
    for (let n = 0; n < tasks; n++) {
      const [, pass, numbers, first, count] = kernels.memory.i32.subarray((at >>> 2) + n * TASK_WORDS);
      expect([pass, numbers]).toEqual([0, 64]);
      for (let n = first; n < first + count; n++) seen.push(n);
    }
  });
  shareHeads(team)(kernels, { ...work, write });
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(write).toHaveBeenCalledWith(2, expect.any(Function));
});

test('a single head is not shared, and tasks have a least size', () => {
  const run = vi.fn();
  const forwardHeads = vi.fn();
  const own = { ...kernels, heads: { forwardHeads, backwardHeads: vi.fn() } };
  shareHeads(fakeTeam(run))(own, { ...work, heads: 1 });
  expect(run).not.toHaveBeenCalled();
  expect(forwardHeads).toHaveBeenCalledWith(64, 0, 0, 1);

  const counts: number[] = [];
  const counting = fakeTeam(({ count }) => counts.push(count));
  shareHeads(counting)(kernels, { ...work, heads: 100 });
  shareHeads({ ...counting, isAwake: true })(kernels, { ...work, heads: 100, multiplications: 2 ** 18 });
  expect(counts).toEqual([8, 2]);
});

test('short passes do not wake workers', () => {
  const run = vi.fn();
  const forwardHeads = vi.fn();
  const own = { ...kernels, heads: { forwardHeads, backwardHeads: vi.fn() } };
  shareHeads(fakeTeam(run))(own, { ...work, multiplications: 1000 });
  expect(run).not.toHaveBeenCalled();
  expect(forwardHeads).toHaveBeenCalledWith(64, 0, 0, 10);
});

test('when a worker fails, the calling thread computes all heads', () => {
  const forwardHeads = vi.fn();
  const own = { ...kernels, heads: { forwardHeads, backwardHeads: vi.fn() } };
  const failing = fakeTeam(() => {
    throw new WorkerFailure('this test lets it fail');
  });
  shareHeads(failing)(own, work);
  expect(forwardHeads).toHaveBeenCalledWith(64, 0, 0, 10);
});
