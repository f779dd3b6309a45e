import { describe, expect, test } from 'vitest';
import type { Tolerances } from '../case-file.ts';
import { judge } from './tolerance.ts';

const values = (...x: number[]): Float64Array => Float64Array.from(x);
const golden = values(1, 2, -Infinity);
const eager = values(1.001, 2, -Infinity);
const of = (result: string, actual: Float64Array, tol: Partial<Tolerances>) =>
  judge({ result, actual, golden, eager }, { rule: '', fudge: {}, pairs: {}, ...tol }, 'f16', 1);

describe('judge', () => {
  test('allows a factor of the error of an eager result', () => {
    const tol = { rule: 'checkOutAndGrad', fudge: { out: 3, dq: 10 } };
    expect(of('o', values(1.0015, 2, -Infinity), tol).ratio).toBeCloseTo(0.5);
    expect(of('dq', values(1, 2.02, -Infinity), tol).ratio).toBeCloseTo(2);
  });

  test('adds the error of the eager result to an absolute and relative tolerance', () => {
    const tol = { rule: 'assert_close', pairs: { out: [0.001, 0.001] } } as const;
    expect(of('o', values(1, 2.004, -Infinity), tol).ratio).toBeCloseTo(1);
  });

  test('rejects NaN and infinities that are not expected', () => {
    const tol = { rule: 'flashAttn2' };
    expect(of('o', values(NaN, 2, -Infinity), tol)).toMatchObject({
      ratio: Infinity,
      text: expect.stringMatching(/holds NaN/),
    });
    expect(of('lse', values(1, 2, -1e30), tol)).toMatchObject({ ratio: Infinity });
  });

  test('knows the rules by name and no others', () => {
    expect(() => of('o', golden, { rule: 'looksGood' })).toThrow("'looksGood' is not known");
  });
});
