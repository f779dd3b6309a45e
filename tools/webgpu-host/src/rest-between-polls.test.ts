import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openGpu } from './open-gpu.ts';
import { restBetweenPolls, restMs } from './rest-between-polls.ts';

/**
 * Counts the turns of the event loop until something has happened, and measures how long they took in
 * milliseconds.
 */
async function turnsUntil(happened: Promise<unknown>): Promise<{ turns: number; ms: number }> {
  let pending = true;
  happened.finally(() => {
    pending = false;
  });
  const start = performance.now();
  let turns = 0;
  for (; pending; turns++) await nextTurn();
  return { turns, ms: performance.now() - start };
}

test('the main thread rests while a software adapter works', async context => {
  const { adapter, kind } = await openGpu();
  if (kind !== 'software') context.skip(`this adapter is ${kind}, for which nobody rests`);
  const device = await adapter.requestDevice();
  const sums = Array.from({ length: 400 }, (_, n) => `x = fma(x, x, sin(x + ${n}.0));`).join('\n');
  const code = `@group(0) @binding(0) var<storage, read_write> result: f32;
    @compute @workgroup_size(1) fn main() { var x = result;\n${sums}\nresult = x; }`;
  const compute = { module: device.createShaderModule({ code }) };
  const { turns, ms } = await turnsUntil(device.createComputePipelineAsync({ layout: 'auto', compute }));
  device.destroy();
  expect(turns).toBeGreaterThan(1);
  expect(turns).toBeLessThan(ms / restMs + 2);
});

test('other tasks run as usual, however often a rest is requested', async () => {
  restBetweenPolls();
  const once = globalThis.setImmediate;
  restBetweenPolls();
  expect(globalThis.setImmediate).toBe(once);
  const given = await new Promise(resolve => setImmediate((...args) => resolve(args), 1, 2));
  expect(given).toEqual([1, 2]);
  expect(await promisify(setImmediate)('value')).toBe('value');
  const cancelled = setImmediate(() => expect.unreachable());
  clearImmediate(cancelled);
  await nextTurn();
});
