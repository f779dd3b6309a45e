import { expect, it } from 'vitest';
import { tokensOf } from '../machine/attention/inputs.ts';
import { attentionNumbers } from './attention-numbers.ts';
import { finiteDifference, loss, moved } from './finite-difference.ts';
import { type MatrixName, makingOf, matricesOf } from './terms.ts';

const tokens = tokensOf([0.5, 1.9, -1.2, 3]);
const numbers = attentionNumbers(tokens);
const matrices = matricesOf(tokens, numbers);

it('has gradients that agree with finite differences', () => {
  for (const [input, gradient] of [
    ['q', numbers.dQ],
    ['k', numbers.dK],
    ['v', numbers.dV],
  ] as const) {
    for (const [i, row] of gradient.entries())
      for (const [c, wanted] of row.entries()) {
        expect(finiteDifference(tokens, input, i, c, 1e-5)).toBeCloseTo(wanted, 7);
      }
  }
  expect(loss(moved(tokens, 'v', 0, 0, 0))).toBe(loss(tokens));
});

it('finds the same D from dO and O as from P and dP', () => {
  for (const [i, D] of numbers.D.entries()) {
    const late = numbers.P[i]?.reduce((sum, p, j) => sum + p * (numbers.dP[i]?.[j] ?? 0), 0);
    expect(late).toBeCloseTo(D, 12);
  }
});

it('writes terms that come to the element', () => {
  const names = Object.keys(matrices) as MatrixName[];
  for (const matrix of names) {
    for (const [i, row] of matrices[matrix].entries())
      for (const [j, wanted] of row.entries()) {
        const making = makingOf({ matrix, i, j }, matrices, String);
        if (making === null) {
          expect(['Q', 'K', 'V', 'dO']).toContain(matrix);
          continue;
        }
        const [expression = '', result] = making.terms.split(' = ');
        const javascript = expression
          .replaceAll('·', '*')
          .replaceAll('−', '-')
          .replace(/exp (-?[\d.e-]+)/g, 'Math.exp($1)')
          .replaceAll('--', '+');
        expect(Number(result)).toBe(wanted);
        expect(evaluate(javascript)).toBeCloseTo(wanted, 9);
        expect(making.used.length).toBeGreaterThan(1);
      }
  }
});

/** The value of an arithmetic expression that this test has built. */
function evaluate(expression: string): number {
  return Number(new Function(`return ${expression};`)());
}
