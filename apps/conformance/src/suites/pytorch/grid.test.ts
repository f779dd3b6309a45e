import { expect, test } from 'vitest';
import { gridOf, shuffled } from './grid.ts';
import { heads, sequenceLength } from './sizes.ts';

test('a grid has every combination of its axes, the last one changing first', () => {
  const grid = gridOf({ a: [1, 2], b: ['x', 'y', 'z'] });
  expect(grid.size).toBe(6);
  expect(Array.from({ length: 6 }, (_, i) => Object.values(grid.at(i)).reverse().join(''))).toEqual([
    ...['1x', '1y', '1z', '2x', '2y', '2z'],
  ]);
});

test('an order is a permutation, the same for the same seed', () => {
  const order = shuffled(100, 7);
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(shuffled(100, 7)).toEqual(order);
  expect(shuffled(100, 8)).not.toEqual(order);
});

test('small problems keep the tails of long sequences and the groups of heads', () => {
  expect([2048, 1023, 203, 143, 1].map(n => sequenceLength(n, 'small'))).toEqual([128, 159, 139, 143, 1]);
  expect(sequenceLength(2048, 'full')).toBe(2048);
  expect(heads(16, 8, 'small')).toEqual([4, 2]);
  expect(heads(6, 1, 'small')).toEqual([4, 1]);
});
