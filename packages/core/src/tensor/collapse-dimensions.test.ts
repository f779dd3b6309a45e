import { expect, test } from 'vitest';
import { collapseDimensions } from './collapse-dimensions.ts';

test('contiguous dimensions are joined, and dimensions of one element are left out', () => {
  expect(collapseDimensions([2, 1, 3, 4], [[12, 12, 4, 1]])).toEqual({ shape: [24], strides: [[1]] });
  expect(collapseDimensions([1], [[0]])).toEqual({ shape: [1], strides: [[0]] });
});
