import { expect, test } from 'vitest';
import { standardSlopes } from './alibi.ts';

test('a power of two gives a geometric sequence that ends at 2^-8', () => {
  expect(standardSlopes(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(e => 2 ** -e));
  expect(standardSlopes(1)).toEqual([2 ** -8]);
});

test('for other head counts, the remaining heads take every second slope of the next power of two', () => {
  const six = standardSlopes(6);
  expect(six.slice(0, 4)).toEqual(standardSlopes(4));
  const eight = standardSlopes(8);
  expect(six.slice(4)).toEqual([eight[0], eight[2]]);
  expect(standardSlopes(3)).toEqual([2 ** -4, 2 ** -8, 2 ** -2]);
});

test.each([2.5, -1, Number.NaN])('%d is not a number of heads', heads => {
  expect(() => standardSlopes(heads)).toThrow(`Hq must be a number of heads, got ${heads}`);
});

test('no heads, no slopes', () => {
  expect(standardSlopes(0)).toEqual([]);
});
