import { expect, test } from 'vitest';
import { withLongRows } from './long-rows.ts';

test('the longest dimension except the last is moved next to the last', () => {
  const transposed = { shape: [32, 24, 4, 8], strides: [[768, 8, 192, 1]] };
  expect(withLongRows(transposed)).toEqual({ shape: [24, 4, 32, 8], strides: [[8, 192, 768, 1]] });
  for (const same of [
    { shape: [8], strides: [[1]] },
    { shape: [3, 8], strides: [[9, 1]] },
  ])
    expect(withLongRows(same)).toEqual(same);
});
