import { expect, test } from 'vitest';
import { compile, constant, differentiate, erf, round, score } from '../index.ts';

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

test('round takes the even one of two equally near integers', () => {
  expect([0.5, 1.5, -0.5, -1.5, 2.4].map(x => compile(round(constant(x)))(0, 0, 0, 0, 0))).toEqual([
    0, 2, 0, -2, 2,
  ]);
});
