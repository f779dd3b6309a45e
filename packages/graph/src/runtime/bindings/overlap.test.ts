import { Tensor } from '@tilewise/core';
import { hostPrimitives } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { overlap, type Placed } from './overlap.ts';

const data = new Float32Array(24);
const placed = (shape: readonly number[], strides: readonly number[], offset = 0): Placed => {
  const tensor = Tensor.wrap(data, { dtype: 'f32', shape, strides, offset });
  return { ...hostPrimitives.placeOf(tensor), desc: tensor };
};

test.each([
  ['the same', placed([2, 3], [3, 1]), placed([2, 3], [3, 1]), true],
  ['neighbours', placed([2, 3], [3, 1]), placed([2, 3], [3, 1], 6), false],
  ['the last element of one', placed([2, 3], [3, 1]), placed([2, 3], [3, 1], 5), true],
  ['one transposed', placed([3, 3], [3, 1]), placed([3, 3], [1, 3]), true],
  ['columns of the same rows', placed([4, 2], [6, 1]), placed([4, 2], [6, 1], 2), false],
  ['columns that meet', placed([4, 3], [6, 1]), placed([4, 2], [6, 1], 2), true],
  ['one of no element', placed([0, 3], [3, 1]), placed([2, 3], [3, 1]), false],
  ['other memory', placed([2], [1]), { ...placed([2], [1]), memory: {} }, false],
])('%s', (_, a, b, expected) => {
  expect(overlap(a, b)).toBe(expected);
  expect(overlap(b, a)).toBe(expected);
});
