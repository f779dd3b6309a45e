import { expect, onTestFinished, test, vi } from 'vitest';
import { timeMatmul } from './time-matmul.ts';

test('a process that is paused at the start of a measurement still measures runs', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1000;
    return now;
  });
  onTestFinished(() => clock.mockRestore());
  const { wall } = timeMatmul({ flops: 5, run() {}, startSecondThread: () => expect.unreachable() });
  expect(wall).toBeGreaterThan(0);
  expect(wall).toBeLessThan(Infinity);
});
