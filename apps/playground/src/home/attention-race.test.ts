import { expect, it } from 'vitest';
import { race } from './attention-race.ts';

it('computes the same attention both ways, with memory that grows with n² and with n', () => {
  const [small, large] = [race(100), race(200)];
  expect(large.difference).toBeLessThan(1e-5);
  // Scores and weights in f32, n × n each.
  expect(large.naiveBytes).toBe(2 * 4 * 200 * 200);
  expect(large.naiveBytes / small.naiveBytes).toBe(4);
  expect(large.streamingBytes - small.streamingBytes).toBe(4 * 100);
});
