import { expect, it } from 'vitest';
import { kernels } from '../../text/en/learn/kernels.ts';
import { compare } from './compare.ts';
import type { ArrayName } from './puzzles/arrays.ts';

const sizes = { n: 2, columns: 2, rows: 2 };
const found = (array: ArrayName, got: readonly number[]) => {
  const wanted = { values: Float64Array.from(got, () => 1), allowed: Float64Array.from(got, () => 0.1) };
  const { wrong } = compare(new Map([[array, Float32Array.from(got)]]), new Map([[array, wanted]]), sizes);
  return wrong?.kind === 'differs' ? kernels.wrong.differs(wrong, String) : wrong;
};

it('names the row and the column of an element of a matrix', () => {
  expect(found('o', [1, 1, 1, 3])).toBe('The largest error is in o, row 1, column 1: 3, not 1.');
});

it('names the row alone in an array with one number for each row', () => {
  expect(found('lse', [1, 3])).toBe('The largest error is in lse, row 1: 3, not 1.');
});
