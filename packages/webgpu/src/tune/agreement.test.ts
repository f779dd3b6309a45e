import { expect, test } from 'vitest';
import { disagreement, toleranceOf } from './agreement.ts';

const sample = (...o: number[]) => new Map([['o', Float32Array.from(o)]]);

test('results agree when they are as close as their dtype allows', () => {
  expect(disagreement(sample(100, 1), sample(100, 1.05), toleranceOf('f16'))).toBeNull();
  expect(disagreement(sample(100, 1), sample(100, 1.05), toleranceOf('f32'))).toBe(
    'gives a different o from the first tile: off by 0.00050 of the largest value',
  );
});

test.each([
  ['NaN', sample(1, Number.NaN)],
  ['nothing', sample(1)],
  ['another result', new Map([['dq', Float32Array.of(1, 2)]])],
])('%s agrees with no number', (_, got) => {
  expect(disagreement(sample(1, 2), got, toleranceOf('f8e5m2'))).toContain('off by Infinity');
});

test('zeros agree with zeros', () => {
  expect(disagreement(sample(0, 0), sample(0, 0), toleranceOf('f32'))).toBeNull();
});

test('a tile with a number disagrees with a tile with NaN', () => {
  for (const broken of [Number.NaN, Infinity]) {
    expect(disagreement(sample(1, broken), sample(1, 2), toleranceOf('f32'))).toContain('off by Infinity');
    expect(disagreement(sample(1, broken), sample(1, broken), toleranceOf('f32'))).toBeNull();
  }
});
