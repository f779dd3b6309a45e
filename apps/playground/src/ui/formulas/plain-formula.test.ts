import { expect, it } from 'vitest';
import { plainFormula } from './plain-formula.ts';

it.each([
  ['P_{ij} = e^{S_{ij} - \\lambda_i}', 'Pij = eSij − λi'],
  ['n \\times d', 'n × d'],
  ["e^{m-m'}", 'em−m′'],
  ['\\operatorname{softmax}\\!\\left(S\\right) V', 'softmax (S ) V'],
  ['Q K^\\top', 'Q K⊤'],
])('writes %s as %s', (tex, plain) => {
  expect(plainFormula(tex)).toBe(plain);
});
