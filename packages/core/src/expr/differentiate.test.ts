import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import {
  abs,
  add,
  constant,
  cos,
  div,
  exp,
  ge,
  gt,
  h,
  kv,
  load,
  log,
  lt,
  max,
  min,
  mod,
  mul,
  neg,
  pow,
  q,
  score,
  select,
  sin,
  sqrt,
  sub,
  tanh,
  toF32,
} from './build.ts';
import { differentiate, loadGradients } from './differentiate.ts';
import { compile, type Loaders } from './evaluate/evaluate.ts';
import { hostLoaders } from './evaluate/host-loaders.ts';
import { alibiMod, softcapMod } from './mods/score-mods.ts';
import type { Expr, NumericExpr } from './nodes/expr.ts';
import { nodes } from './nodes/walk.ts';

/** Expressions of score, places and a captured table, defined everywhere and of moderate size. */
const expressions: fc.Arbitrary<NumericExpr> = fc.letrec<{ e: NumericExpr }>(tie => {
  const unary = (f: (x: NumericExpr) => NumericExpr) => tie('e').map(f);
  const binary = (f: (x: NumericExpr, y: NumericExpr) => NumericExpr) =>
    fc.tuple(tie('e'), tie('e')).map(([x, y]) => f(x, y));
  return {
    e: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom(score, score, toF32(q), load('table', [h]), load('table', [mod(kv, 3)])),
      fc.integer({ min: -8, max: 8 }).map(n => constant(n / 4)),
      unary(neg),
      unary(abs),
      unary(tanh),
      unary(sin),
      unary(cos),
      unary(x => exp(tanh(x))),
      unary(x => log(add(1.5, mul(x, x)))),
      unary(x => sqrt(add(0.5, abs(x)))),
      unary(x => pow(x, 3)),
      binary(add),
      binary(sub),
      binary(mul),
      binary(min),
      binary(max),
      binary((x, y) => div(x, add(2, sin(y)))),
      binary((x, y) => pow(add(1.25, mul(x, x)), tanh(y))),
      binary((x, y) => select(lt(q, kv), x, y)),
    ),
  };
}).e;

// Avoids the quarters at which the constants are: a central difference centred on a kink looks like a
// derivative.
const places = fc.record({
  score: fc.integer({ min: -2000, max: 2000 }).map(n => (n + 0.317) / 1000),
  h: fc.integer({ min: 0, max: 2 }),
  q: fc.integer({ min: 0, max: 4 }),
  kv: fc.integer({ min: 0, max: 4 }),
});

/**
 * A central difference; undefined if two step sizes disagree, as they do at a kink or where f is very steep.
 */
function slope(f: (x: number) => number, x: number): number | undefined {
  const [fine, coarse] = [1e-4, 2e-4].map(step => (f(x + step) - f(x - step)) / (2 * step));
  const scale = 1 + Math.abs(f(x)) + Math.abs(fine);
  return Math.abs(fine - coarse) < 1e-5 * scale ? fine : undefined;
}

// The error of the fine difference is a third of its distance to the coarse one, plus the rounding error of
// f, 1e-16/1e-4.
const tolerance = (expected: number, f: number): number => 1e-5 * (1 + Math.abs(f) + Math.abs(expected));

const table = [0.513, -1.229, 0.747];

describe('differentiate', () => {
  it('agrees with finite differences', () => {
    fc.assert(
      fc.property(expressions, places, (expr, at) => {
        const loaders = hostLoaders({ table: Tensor.from(table, [3]) });
        const f = compile(expr, loaders);
        const expected = slope(s => f(s, 0, at.h, at.q, at.kv), at.score);
        fc.pre(expected !== undefined);
        const actual = compile(differentiate(expr), loaders)(at.score, 0, at.h, at.q, at.kv);
        expect(Math.abs(actual - expected)).toBeLessThan(
          tolerance(expected, f(at.score, 0, at.h, at.q, at.kv)),
        );
      }),
      { numRuns: 400 },
    );
  });

  it('holds no products with zero and no sums with zero', () => {
    const isZero = (e: Expr) => e.kind === 'constant' && e.value === 0;
    fc.assert(
      fc.property(expressions, expr => {
        for (const e of nodes(differentiate(expr))) {
          if (e.kind === 'binary' && ['add', 'sub', 'mul'].includes(e.op) && !nodes(expr).includes(e)) {
            expect(isZero(e.a) || isZero(e.b)).toBe(false);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is the plain formula for common mods', () => {
    expect(differentiate(score)).toEqual(constant(1));
    expect(differentiate(alibiMod(Tensor.zeros([1])).expr)).toEqual(constant(1));
    expect(differentiate(add(score, load('bias', [q, kv])))).toEqual(constant(1));
    expect(differentiate(select(ge(q, kv), score, -Infinity))).toEqual(select(ge(q, kv), 1, 0));
    expect(differentiate(mul(score, score))).toEqual(add(score, score));
    expect(differentiate(div(score, 4))).toEqual(constant(0.25));
    expect(differentiate(pow(score, 2))).toEqual(mul(2, score));
    const t = tanh(div(score, 2));
    const derivative = compile(differentiate(softcapMod(2).expr));
    expect(derivative(0.6, 0, 0, 0, 0)).toBeCloseTo(1 - compile(t)(0.6, 0, 0, 0, 0) ** 2, 15);
  });

  it('is zero through comparisons, integers and other variables', () => {
    const zero = constant(0);
    expect(differentiate(select(gt(score, 0), 1, 2))).toEqual(zero);
    expect(differentiate(toF32(gt(score, 0)))).toEqual(zero);
    expect(differentiate(toF32(mul(q, kv)))).toEqual(zero);
    expect(differentiate(load('table', [h]))).toEqual(zero);
  });

  it.each<[string, NumericExpr, number, number]>([
    ['|score| at 0', abs(score), 0, 0],
    ['max(score, 0) at 0', max(score, 0), 0, 0.5],
    ['min(score, 0) at 0', min(score, 0), 0, 0.5],
    ['max(score, 0) below 0', max(score, 0), -1, 0],
    ['score⁰ at 0', pow(score, 0), 0, 0],
    ['score¹ at 0', pow(score, 1), 0, 1],
    ['score² at a negative score', pow(score, 2), -3, -6],
    ['0 to the power of the score', pow(0, score), 2, 0],
    ['2 to the power of the score', pow(2, score), 3, 8 * Math.LN2],
    ['score to the power of an index that is 0', pow(score, toF32(q)), 0, 0],
  ])('%s', (_, expr, at, expected) => {
    expect(compile(differentiate(expr))(at, 0, 0, 0, 0)).toBeCloseTo(expected, 14);
  });

  it('ignores the branch that is not taken', () => {
    const expr = select(gt(score, 0), log(score), 0);
    expect(compile(differentiate(expr))(-1, 0, 0, 0, 0)).toBe(0);
    expect(compile(differentiate(expr))(4, 0, 0, 0, 0)).toBe(0.25);
  });
});

describe('loadGradients', () => {
  it('agrees with finite differences of each element', () => {
    fc.assert(
      fc.property(expressions, places, fc.integer({ min: 0, max: 2 }), (expr, at, element) => {
        // Read in f64, because f32 tensors would round the differences away.
        const loaders =
          (values: readonly number[]): Loaders =>
          () =>
          ([n]) =>
            values[n];
        const run = (e: Expr, values = table) => compile(e, loaders(values))(at.score, 0, at.h, at.q, at.kv);
        const expected = slope(
          x =>
            run(
              expr,
              table.map((value, n) => (n === element ? x : value)),
            ),
          table[element],
        );
        fc.pre(expected !== undefined);
        const actual = loadGradients(expr, 'table')
          .filter(({ index }) => run(index[0]) === element)
          .reduce((sum, { partial }) => sum + run(partial), 0);
        expect(Math.abs(actual - expected)).toBeLessThan(tolerance(expected, run(expr)));
      }),
      { numRuns: 300 },
    );
  });

  it('has one entry per distinct index', () => {
    const read = () => load('table', [h]);
    const gradients = loadGradients(add(mul(score, read()), mul(read(), read())), 'table');
    expect(gradients).toHaveLength(1);
    expect(gradients[0].index).toEqual([h]);
    const loaders = hostLoaders({ table: Tensor.from(table, [3]) });
    expect(compile(gradients[0].partial, loaders)(3, 0, 1, 0, 0)).toBe(3 + 2 * Math.fround(-1.229));
  });

  it('leaves out reads that do not affect the value', () => {
    const x = load('table', [h]);
    expect(loadGradients(select(gt(x, 0), score, 0), 'table')).toEqual([]);
    expect(loadGradients(add(score, x), 'other')).toEqual([]);
    expect(loadGradients(toF32(load('ids', [q], 'i32')), 'ids')).toEqual([]);
  });
});
