import { expect, test } from 'vitest';
import { collapseDimensions, withLongRows } from './collapse-dimensions.ts';

test('dimensions in line are joined, and those of one element left out', () => {
  expect(collapseDimensions([2, 1, 3, 4], [[12, 12, 4, 1]])).toEqual({ shape: [24], strides: [[1]] });
  expect(collapseDimensions([1], [[0]])).toEqual({ shape: [1], strides: [[0]] });
});

test('the longest dimension but the last comes before the last', () => {
  const transposed = { shape: [32, 24, 4, 8], strides: [[768, 8, 192, 1]] };
  expect(withLongRows(transposed)).toEqual({ shape: [24, 4, 32, 8], strides: [[8, 192, 768, 1]] });
  for (const same of [
    { shape: [8], strides: [[1]] },
    { shape: [3, 8], strides: [[9, 1]] },
  ])
    expect(withLongRows(same)).toEqual(same);
});
