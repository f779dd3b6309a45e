import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { spacedWrites } from './spaced-writes.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Lets pending microtasks run. */
const eventEnds = (): Promise<void> => Promise.resolve();

it('writes the last value of an event at its end', async () => {
  const written: string[] = [];
  const { write } = spacedWrites<string>(value => written.push(value));
  write('a');
  write('b');
  expect(written).toEqual([]);
  await eventEnds();
  expect(written).toEqual(['b']);
});

it('writes ten values in a row, and then only the latest every 400 ms', async () => {
  const written: number[] = [];
  const { write } = spacedWrites<number>(value => written.push(value));
  for (let value = 1; value <= 13; value++) {
    write(value);
    await eventEnds();
  }
  expect(written).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  vi.advanceTimersByTime(399);
  expect(written).toHaveLength(10);
  vi.advanceTimersByTime(1);
  expect(written.at(-1)).toBe(13);
  write(14);
  write(15);
  await eventEnds();
  vi.advanceTimersByTime(400);
  expect(written.slice(10)).toEqual([13, 15]);
});

it('stays below 100 writes in 30 seconds, which is the limit of Safari', async () => {
  let writes = 0;
  const { write } = spacedWrites<number>(() => writes++);
  for (let time = 0; time < 30_000; time += 10) {
    write(time);
    await eventEnds();
    vi.advanceTimersByTime(10);
  }
  expect(writes).toBeGreaterThan(80);
  expect(writes).toBeLessThan(100);
});

it('does not write a value that was dropped, and writes the next one', async () => {
  const written: string[] = [];
  const { write, cancel } = spacedWrites<string>(value => written.push(value));
  write('a');
  cancel();
  await eventEnds();
  expect(written).toEqual([]);
  write('b');
  await eventEnds();
  expect(written).toEqual(['b']);
});
