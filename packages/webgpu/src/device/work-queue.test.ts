import { expect, test } from 'vitest';
import { WorkQueue } from './work-queue.ts';

test('runs work in the order of the calls, however long each one waits', async () => {
  const queue = new WorkQueue();
  const order: number[] = [];
  const slow = new Promise(resolve => setTimeout(resolve, 5));
  queue.add({ ready: slow, run: () => order.push(1) });
  queue.add({ run: () => order.push(2) });
  expect(queue.isIdle).toBe(false);
  await queue.settled();
  expect(order).toEqual([1, 2]);
  expect(queue.isIdle).toBe(true);
});

test('goes on after work that fails, whether or not anybody listens', async () => {
  const queue = new WorkQueue();
  const failures: unknown[] = [];
  const refused = new Error('refused');
  const run = (): never => {
    throw refused;
  };
  // An error that nobody handles ends this process.
  queue.add({ run }).catch(() => {});
  queue.add({ run, fail: error => failures.push(error) }).catch(() => {});
  await queue.settled();
  expect(failures).toEqual([refused]);
  expect(queue.isIdle).toBe(true);
  await expect(queue.add({ run: () => 3 })).resolves.toBe(3);
});

test('releases the buffers of work that failed', async () => {
  const queue = new WorkQueue();
  const buffer = {} as GPUBuffer;
  const pending = queue.add({
    ready: Promise.reject(new Error('no kernel')),
    buffers: [buffer],
    run: () => {},
  });
  expect(() => queue.demandUnused([buffer])).toThrow('await ctx.submitted() first');
  await expect(pending).rejects.toThrow('no kernel');
  await queue.settled();
  expect(() => queue.demandUnused([buffer])).not.toThrow();
});
