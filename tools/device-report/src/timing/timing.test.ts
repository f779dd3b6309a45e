import { expect, test } from 'vitest';
import { summary, time } from './timing.ts';

test('the median is the middle time, or the mean of the two in the middle', () => {
  expect(summary([5, 1, 3])).toEqual({ median: 3, min: 1, repeats: 3 });
  expect(summary([8, 1, 3, 4])).toEqual({ median: 3.5, min: 1, repeats: 4 });
});

test('the first runs are not timed', async () => {
  let runs = 0;
  const { repeats } = await time(() => runs++, { warmUp: 2, repeats: 4, ms: 0 });
  expect({ runs, repeats }).toEqual({ runs: 6, repeats: 4 });
});

test('work is awaited, and repeated until the time is up', async () => {
  const pause = () => new Promise(resolve => setTimeout(resolve, 5));
  const { min, repeats } = await time(pause, { warmUp: 0, repeats: 1, ms: 30 });
  // Node's timers may fire a little early.
  expect(min).toBeGreaterThan(3);
  expect(repeats).toBeGreaterThan(1);
});
