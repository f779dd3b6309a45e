import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  abs,
  add,
  div,
  exp,
  ge,
  gt,
  kv,
  le,
  load,
  log,
  lt,
  max,
  min,
  mul,
  ne,
  neg,
  not,
  pow,
  q,
  score,
  select,
  sqrt,
  sub,
  tanh,
} from '../build.ts';
import { compile } from '../evaluate/evaluate.ts';
import { binary } from '../nodes/create-node.ts';
import type { Expr, NumericExpr } from '../nodes/expr.ts';
import { nodes } from '../nodes/walk.ts';
import { isInfinity, withoutInfinities } from './infinities.ts';

const tables: Readonly<Record<string, readonly number[]>> = { masked: [0, -Infinity, 1, -2] };
const evaluate = (e: Expr, at: readonly [score: number, q: number, kv: number]): number =>
  compile(
    e,
    name =>
      ([n]) =>
        tables[name][n],
  )(at[0], 0, 0, at[1], at[2]);

const half = (e: NumericExpr): NumericExpr => mul(e, 0.5);
const masked = load('masked', [kv]);

const expression = fc.letrec<{ e: NumericExpr }>(tie => {
  const x = tie('e');
  const leaf = fc.constantFrom(score, masked, ...[-Infinity, -3, -0.5, 0, 2].map(c => add(c, mul(0, score))));
  const constant = fc.constantFrom(-4, -0.5, 0.5, 8);
  return {
    e: fc.oneof(
      { maxDepth: 5, depthSize: 'large' },
      leaf,
      fc.tuple(fc.constantFrom(add, sub, mul, min, max), x, x).map(([op, a, b]) => op(a, b)),
      fc.tuple(fc.constantFrom(add, sub, mul, div), x, constant).map(([op, a, c]) => op(a, c)),
      fc.tuple(fc.constantFrom(neg, abs, tanh, sqrt, log), x).map(([op, a]) => op(a)),
      fc.tuple(x, fc.constantFrom(1, 2, 3, 0.5)).map(([a, c]) => pow(a, c)),
      fc.tuple(x, x).map(([a, b]) => div(a, add(2, tanh(b)))),
      x.map(a => exp(min(a, 2))),
      fc.tuple(x, x).map(([a, b]) => select(ge(q, kv), a, b)),
      fc.tuple(x, x, x).map(([a, b, c]) => select(gt(a, -Infinity), b, c)),
    ),
  };
}).e;

describe('isInfinity', () => {
  it('detects both infinities from the operands, wherever an expression is not NaN', () => {
    let told = 0;
    fc.assert(
      fc.property(
        expression,
        fc.tuple(
          fc.constantFrom(-1.5, 0, 2.25),
          fc.integer({ min: 0, max: 3 }),
          fc.integer({ min: 0, max: 3 }),
        ),
        (e, at) => {
          const value = evaluate(e, at);
          if (Number.isNaN(value)) return;
          if (!Number.isFinite(value)) told++;
          expect(evaluate(isInfinity(e, '-Infinity'), at)).toBe(Number(value === -Infinity));
          expect(evaluate(isInfinity(e, 'Infinity'), at)).toBe(Number(value === Infinity));
        },
      ),
      { numRuns: 2000 },
    );
    expect(told).toBeGreaterThan(100);
  });

  it('is the constant false where there are no infinities to begin with', () => {
    expect(isInfinity(mul(add(score, 1), select(ge(q, kv), 2, kv)), '-Infinity')).toMatchObject({
      kind: 'constant',
      value: 0,
    });
  });

  it('stays linear in the number of nodes', () => {
    let x: NumericExpr = select(ge(q, kv), score, -Infinity);
    for (let n = 0; n < 50; n++) x = half(add(x, x));
    expect(nodes(isInfinity(x, '-Infinity')).length).toBeLessThan(500);
  });
});

describe('withoutInfinities', () => {
  const hidden = half(add(score, masked));
  it.each<[string, Expr, boolean]>([
    ['x ≤ −∞', le(hidden, -Infinity), true],
    ['x > −∞', gt(hidden, -Infinity), false],
    ['−∞ < x', lt(-Infinity, hidden), false],
    ['−∞ ≠ x', ne(-Infinity, hidden), false],
    ['−x ≥ ∞', ge(neg(hidden), Infinity), true],
    ['−x < ∞, in a condition', not(lt(neg(hidden), Infinity)), true],
  ])('%s gives the same as on the values, and reads only loaded values', (_, e, isMasked) => {
    const told = withoutInfinities(e);
    expect([0, 1].map(kv => evaluate(told, [1, 0, kv]))).toEqual([Number(!isMasked), Number(isMasked)]);
    const seen = nodes(told).filter(x => x.kind === 'binary' && x.a === hidden);
    expect(seen).toEqual([]);
  });

  it('does not change other comparisons', () => {
    const e = binary('le', hidden, 3);
    expect(withoutInfinities(e)).toEqual(e);
  });
});
