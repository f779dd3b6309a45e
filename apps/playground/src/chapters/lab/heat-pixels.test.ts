import { expect, it } from 'vitest';
import { heatPixels, rangeOf } from './heat-pixels.ts';

const values = Float32Array.of(2, -1, 0, Number.NaN);

it('ranges from the smallest to the largest number, 0 included and hidden numbers left out', () => {
  expect(rangeOf(values)).toEqual([-1, 2]);
  expect(rangeOf(Float32Array.of(Number.NaN, 3))).toEqual([0, 3]);
});

it('colours numbers by their sign and size, and hidden numbers grey', () => {
  const [two, minusOne, zero, hidden] = [0, 4, 8, 12].map(at => [...heatPixels(values, 2)].slice(at, at + 4));
  expect(two).toEqual([58, 136, 246, 255]);
  expect(minusOne).toEqual([236, 120, 40, Math.round(255 * 0.5 ** 0.65)]);
  expect(zero?.[3]).toBe(0);
  expect(hidden).toEqual([128, 132, 148, 62]);
});
