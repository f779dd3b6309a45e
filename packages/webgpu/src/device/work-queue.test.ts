import { expect, test } from 'vitest';
import { WorkQueue } from './work-queue.ts';

test('runs work in the order of the calls, however long each one waits', async () => {
  const queue = new WorkQueue();
  const order: number[] = [];
  const slow = new Promise(resolve => setTimeout(resolve, 5));
  queue.run({ ready: slow, run: () => order.push(1) });
  expect(queue.run({ run: () => order.push(2) })).toBeInstanceOf(Promise);
  await queue.settled();
  expect(order).toEqual([1, 2]);
  expect(queue.run({ run: () => order.push(3) })).toBe(3);
});

test('continues after work that fails, whether or not the failure is handled', async () => {
  const queue = new WorkQueue();
  const failures: unknown[] = [];
  const refused = new Error('refused');
  const run = (): never => {
    throw refused;
  };
  // An unhandled rejection would end this process.
  const ready = Promise.resolve();
  queue.run({ ready, run });
  queue.run({ ready, run, fail: error => failures.push(error) });
  await queue.settled();
  expect(failures).toEqual([refused]);
  expect(queue.run({ run: () => 3 })).toBe(3);
  await expect(queue.run({ ready, run: () => 4 })).resolves.toBe(4);
});

test('knows whether work that waits, or an open batch, may use a buffer', async () => {
  const queue = new WorkQueue();
  const [used, other] = [{} as GPUBuffer, {} as GPUBuffer];
  expect(queue.mayUse(used)).toBeFalsy();
  queue.batch = { submit: () => {}, uses: buffer => buffer === used, afterwards: [] };
  expect([used, other].map(buffer => Boolean(queue.mayUse(buffer)))).toEqual([true, false]);
  queue.batch = undefined;
  queue.run({ ready: Promise.resolve(), run: () => {} });
  expect(queue.mayUse(other)).toBe(true);
  await queue.settled();
  expect(queue.mayUse(used)).toBeFalsy();
});

test('releases the buffers of work that failed', async () => {
  const queue = new WorkQueue();
  const buffer = {} as GPUBuffer;
  const pending = queue.run({
    ready: Promise.reject(new Error('no kernel')),
    buffers: () => [buffer],
    run: () => {},
  });
  expect(() => queue.demandUnused([buffer])).toThrow('await ctx.submitted() first');
  await expect(pending).rejects.toThrow('no kernel');
  await queue.settled();
  expect(() => queue.demandUnused([buffer])).not.toThrow();
});
