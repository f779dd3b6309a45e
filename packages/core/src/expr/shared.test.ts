import { processorTime } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { add, and, eq, exp, gt, kv, le, load, lt, mul, neg, or, q, score, select, sub } from './build.ts';
import { flatten, unflatten } from './canonical.ts';
import { checkExpr, checkMod } from './check.ts';
import { differentiate, loadGradients } from './differentiate.ts';
import { compile } from './evaluate/evaluate.ts';
import { compileRows } from './evaluate/rows.ts';
import { scoreMod } from './mods/mod.ts';
import type { BoolExpr, Expr, NumericExpr } from './nodes/expr.ts';
import { loads, nodes } from './nodes/walk.ts';
import { withoutInfinities } from './wgsl/infinities.ts';
import { type WgslNames, writeWgsl } from './wgsl/wgsl.ts';

const names: WgslNames = {
  variables: { score: 's', b: 'b', h: 'h', q: 'i', kv: 'j' },
  load: (name, index) => `load_${name}(${index.join(', ')})`,
};

/**
 * Every level uses the one below twice, so that as a tree it has 2^levels leaves; the value is that of
 * `leaf`.
 */
function shared(leaf: NumericExpr, levels: number): NumericExpr {
  let e = leaf;
  for (let n = 0; n < levels; n++) e = mul(add(e, e), 0.5);
  return e;
}

/** leaf + 1 + 1 + …, with `length` additions nested in each other. */
function chain(leaf: NumericExpr, length: number): NumericExpr {
  let e = leaf;
  for (let n = 0; n < length; n++) e = add(e, 1);
  return e;
}

/** Four pairs with the score 1. */
const row = { b: 0, h: 0, q: 0, kv: 0, count: 4, scores: [1, 1, 1, 1], at: 0 };

/** Applies every operation on expressions to this one, and returns the milliseconds that it took. */
function timeOfAll(e: NumericExpr): number {
  const start = processorTime();
  checkExpr('mod', e, 'f32');
  compile(e)(1, 0, 0, 0, 0);
  compileRows(gt(e, 0), {}, 4)(row);
  compile(differentiate(e))(1, 0, 0, 0, 0);
  writeWgsl(e, names);
  withoutInfinities(le(e, -Infinity));
  return processorTime() - start;
}

describe.each([24, 60])('an expression with %i levels of sharing', levels => {
  it('is checked, evaluated, differentiated, bounded and written in time linear in its nodes', () => {
    expect(timeOfAll(shared(score, levels))).toBeLessThan(1000);
  });

  it('has the value and the derivative of its tree', () => {
    const e = shared(score, levels);
    expect(compile(e)(0.75, 0, 0, 0, 0)).toBe(0.75);
    expect(compile(differentiate(e))(0.75, 0, 0, 0, 0)).toBe(1);
    const evaluate = compileRows(lt(shared(add(kv, 0.5), levels), 2), {}, 4);
    expect(Array.from(evaluate(row))).toEqual([1, 1, 0, 0]);
  });

  it('loads each element once per level, also under a condition', () => {
    let count = 0;
    const loaded = shared(load('t', [kv]), levels);
    const guarded = select(gt(kv, 0), loaded, 3);
    const run = compile(add(guarded, guarded), () => ([n]) => {
      count++;
      return n;
    });
    expect([run(0, 0, 0, 0, 0), count]).toEqual([6, 0]);
    expect([run(0, 0, 0, 0, 2), count]).toEqual([4, 1]);
    expect(loadGradients(loaded, 't')).toHaveLength(1);
  });
});

describe('a chain of 10,000 nodes', () => {
  it('is checked, evaluated, differentiated, bounded and written without recursion', () => {
    expect(timeOfAll(chain(score, 10_000))).toBeLessThan(2000);
    expect(compile(chain(score, 10_000))(0.5, 0, 0, 0, 0)).toBe(10_000.5);
    expect(compile(differentiate(chain(score, 10_000)))(0.5, 0, 0, 0, 0)).toBe(1);
  });

  it('of conditions around loads evaluates only what is needed', () => {
    let e: NumericExpr = load('t', [kv]);
    for (let n = 0; n < 10_000; n++) e = select(gt(q, 0), neg(e), n);
    const run = compile(e, () => () => {
      throw new Error('loaded');
    });
    expect(run(0, 0, 0, 0, 0)).toBe(9999);
    expect(() => run(0, 0, 0, 1, 0)).toThrow('loaded');
  });

  it('of comparisons with infinities is bounded in time linear in its nodes', () => {
    let e: NumericExpr = score;
    for (let n = 0; n < 5_000; n++) e = select(gt(e, -Infinity), add(e, 1), 0);
    const start = processorTime();
    writeWgsl(e, names);
    expect(processorTime() - start).toBeLessThan(2000);
  });

  it('nests parentheses no deeper in WGSL than its parsers allow', () => {
    for (const e of [chain(score, 10_000), chain(exp(score), 200)]) {
      const { statements, value } = writeWgsl(e, names);
      for (const line of [...statements.split('\n'), value]) expect(depth(line)).toBeLessThan(64);
    }
  });
});

/** The deepest nesting of parentheses. */
function depth(text: string): number {
  let [now, most] = [0, 0];
  for (const c of text) {
    if (c === '(') most = Math.max(most, ++now);
    else if (c === ')') now--;
  }
  return most;
}

describe('lazily evaluated operands', () => {
  const loaded = eq(load('t', [kv]), 1);
  const run = (e: Expr, i: number) =>
    compile(e, () => () => {
      throw new Error('loaded');
    })(0, 0, 0, i, 0);

  it.each<[string, Expr, number]>([
    ['a conjunction that is false', and(gt(q, 0), loaded), 0],
    ['a disjunction that is true', or(le(q, 0), loaded), 1],
    ['a condition of another', select(and(gt(q, 0), loaded), 2, 5), 5],
    ['an index', select(gt(q, 0), load('x', [load('y', [q], 'i32')]), 7), 7],
    ['two that share it', add(select(gt(q, 0), load('t', [0]), 1), select(gt(q, 1), load('t', [0]), 2)), 3],
  ])('of %s are not loaded', (_, e, value) => {
    expect(run(e, 0)).toBe(value);
    expect(() => run(e, 2)).toThrow('loaded');
  });
});

describe('a value that is not an expression', () => {
  const own: { kind: 'unary'; type: 'f32'; op: 'exp'; a: Expr } = {
    kind: 'unary',
    type: 'f32',
    op: 'exp',
    a: score,
  };
  own.a = { kind: 'binary', type: 'f32', op: 'add', a: own, b: score };
  const uses: [string, (e: Expr) => unknown][] = [
    ['checkExpr', e => checkExpr('expr', e, 'f32')],
    ['nodes', nodes],
    ['loads', loads],
    ['compile', e => compile(e)],
    ['compileRows', e => compileRows(e, {}, 1)],
    ['differentiate', differentiate],
    ['loadGradients', e => loadGradients(e, 't')],
    ['writeWgsl', e => writeWgsl(e, names)],
  ];

  it.each(uses)('is refused by %s: a cycle', (_, use) => {
    expect(() => use(own)).toThrow(InvalidArgumentError);
    expect(() => use(own)).toThrow(/expr is not a valid expression: a node refers to itself/);
  });

  it.each(uses)('is refused by %s: null, a number, a node without its operands', (_, use) => {
    for (const e of [
      null,
      3,
      undefined,
      [score],
      { kind: 'binary', type: 'f32', op: 'add', a: score },
      { kind: 'load' },
    ]) {
      expect(() => use(e as never)).toThrow(InvalidArgumentError);
    }
  });
});

describe('flatten', () => {
  it('lists each distinct node once, and unflatten gives an expression with the same values', () => {
    const e = select(gt(shared(score, 60), 2), load('t', [add(kv, 1)]), mul(-0, score));
    const list = flatten(e);
    expect(list.length).toBeLessThan(140);
    const again = unflatten(JSON.parse(JSON.stringify(list)));
    const loaders =
      () =>
      ([n]: readonly number[]) =>
        n / 2;
    for (const s of [1, 3])
      expect(compile(again, loaders)(s, 0, 0, 0, 4)).toBe(compile(e, loaders)(s, 0, 0, 0, 4));
    expect(flatten(again)).toEqual(list);
  });

  it.each<[string, unknown]>([
    ['no list', null],
    ['no nodes', []],
    ['a node that is not a list', [3]],
    ['an operand that comes later', [['unary', 'f32', 'exp', 0]]],
    [
      'an operand that is not a place',
      [
        ['variable', 'f32', 'score'],
        ['unary', 'f32', 'exp', 'length'],
      ],
    ],
    ['an unknown kind', [['constructor', 'f32', 'exp']]],
    [
      'a type that is not that of the operator',
      [
        ['variable', 'f32', 'score'],
        ['unary', 'bool', 'exp', 0],
      ],
    ],
  ])('unflatten refuses %s', (_, list) => {
    expect(() => unflatten(list as never)).toThrow(InvalidArgumentError);
  });
});

describe('checkMod', () => {
  it.each<[string, unknown]>([
    ['an array', [1, 2]],
    ['a number', 3],
    ['null', null],
    ['a tensor of an unknown dtype', { dtype: 'f64', shape: [2], strides: [1] }],
  ])('refuses a capture that is %s', (_, t) => {
    const mod = scoreMod(({ score, q }) => add(score, load('t', [q])), { t: t as Tensor });
    expect(() => checkMod('scoreMod', mod, 'f32')).toThrow(
      expect.objectContaining({ argument: 'scoreMod.captures.t' }),
    );
  });

  it.each([[[1]], [3]])('refuses captures that are %j', captures => {
    const mod = scoreMod(({ score }) => score, captures as never);
    expect(() => checkMod('scoreMod', mod, 'f32')).toThrow(/^scoreMod.captures must be an object/);
  });
});

it('a mask of shared booleans is evaluated once per node', () => {
  let e: BoolExpr = gt(sub(kv, q), 0);
  for (let n = 0; n < 60; n++) e = or(and(e, e), eq(e, e));
  expect(compile(e)(0, 0, 0, 1, 0)).toBe(1);
});
