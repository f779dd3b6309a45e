import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LastObject } from './last-object.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('is the object that was set last, until it is removed', () => {
  const last = new LastObject<object>();
  const [a, b] = [{}, {}];
  expect(last.is(a)).toBe(false);
  last.set(a);
  expect([last.is(a), last.is(b), last.is(a)]).toEqual([true, false, true]);
  last.set(b);
  expect([last.is(a), last.is(b)]).toEqual([false, true]);
  last.release();
  expect(last.is(b)).toBe(true);
  last.set();
  expect(last.is(b)).toBe(false);
});

/** Returns whether an object that occurs `times` times in a row is reclaimed after `after`. */
async function isReclaimed(times: number, after: (last: LastObject<object>) => void): Promise<boolean> {
  const last = new LastObject<object>();
  let object: object | null = {};
  const seen = new WeakRef(object);
  last.set(object);
  for (let n = 1; n < times; n++) last.is(object);
  object = null;
  after(last);
  // Reading a weak reference keeps its object until the next turn of the event loop.
  await setImmediate();
  collect();
  const isGone = seen.deref() === undefined;
  // `last` itself must not be reclaimed before.
  last.set();
  return isGone;
}

test('keeps only an object that has recurred alive, until it is released', async () => {
  expect(await isReclaimed(1, () => undefined)).toBe(true);
  expect(await isReclaimed(2, () => undefined)).toBe(false);
  expect(await isReclaimed(2, last => last.release())).toBe(true);
});
