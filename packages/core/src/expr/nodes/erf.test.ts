import { expect, test } from 'vitest';
import { compile, differentiate, erf, score } from '../index.ts';

const at = (x: number): number => compile(erf(score))(x, 0, 0, 0, 0);

// From Abramowitz and Stegun, table 7.1, and NIST's Digital Library of Mathematical Functions.
test.each([
  [0, 0],
  [0.5, 0.5204998778130465],
  [1, 0.8427007929497149],
  [2, 0.9953222650189527],
  [3, 0.9999779095030014],
  [8, 1],
])('erf(%d)', (x, expected) => {
  expect(at(x)).toBeCloseTo(expected, 14);
  expect(at(-x)).toBeCloseTo(-expected, 14);
});

test('its derivative equals a difference quotient', () => {
  const slope = compile(differentiate(erf(score)))(0.7, 0, 0, 0, 0);
  expect(slope).toBeCloseTo((at(0.7 + 1e-6) - at(0.7 - 1e-6)) / 2e-6, 8);
});
