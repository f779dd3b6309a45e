import { expect, it } from 'vitest';
import { maskStatistics } from './statistics.ts';

it('finds the correlation of a mask with its neighbours', () => {
  const columns = 8;
  const stripes = Uint8Array.from({ length: 64 }, (_, n) => n % 2);
  const found = maskStatistics(stripes, columns, 0.5);
  expect(found).toMatchObject({ kept: 32, total: 64, deviation: 0 });
  expect(found.across).toBeCloseTo(-1, 12);
  expect(found.down).toBeCloseTo(1, 12);
});

it('computes how far the kept share is from 1 − p', () => {
  expect(maskStatistics(new Uint8Array(100).fill(1), 10, 0.5).deviation).toBe(10);
  expect(maskStatistics(new Uint8Array(100).fill(1), 10, 0)).toMatchObject({ deviation: 0, across: 0 });
});
