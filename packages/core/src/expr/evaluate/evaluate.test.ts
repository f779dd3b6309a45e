import { describe, expect, it } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import {
  abs,
  add,
  and,
  cos,
  div,
  eq,
  exp,
  floorDiv,
  ge,
  gt,
  h,
  kv,
  le,
  load,
  log,
  lt,
  max,
  min,
  mod,
  mul,
  ne,
  neg,
  not,
  or,
  pow,
  q,
  round,
  score,
  select,
  sin,
  sqrt,
  sub,
  tanh,
  toF32,
} from '../build.ts';
import type { Expr } from '../nodes/expr.ts';
import { compile } from './evaluate.ts';
import { hostLoaders } from './host-loaders.ts';

const at = (
  expr: Expr,
  values: { score?: number; b?: number; h?: number; q?: number; kv?: number },
): number => compile(expr)(values.score ?? 0, values.b ?? 0, values.h ?? 0, values.q ?? 0, values.kv ?? 0);

describe('compile', () => {
  it('computes f32 functions in f64', () => {
    const s = 0.7;
    const values: [Expr, number][] = [
      [add(score, 0.1), s + 0.1],
      [sub(score, 0.1), s - 0.1],
      [mul(score, 0.1), s * 0.1],
      [div(score, 3), s / 3],
      [pow(score, 2.5), s ** 2.5],
      [min(score, 0.5), 0.5],
      [max(score, 0.5), s],
      [neg(score), -s],
      [abs(neg(score)), s],
      [exp(score), Math.exp(s)],
      [log(score), Math.log(s)],
      [sqrt(score), Math.sqrt(s)],
      [tanh(score), Math.tanh(s)],
      [sin(score), Math.sin(s)],
      [cos(score), Math.cos(s)],
    ];
    for (const [expr, value] of values) expect(at(expr, { score: s })).toBe(value);
  });

  it('gives booleans as 0 and 1', () => {
    const place = { q: 3, kv: 5 };
    const values: [Expr, number][] = [
      [lt(q, kv), 1],
      [le(q, kv), 1],
      [gt(q, kv), 0],
      [ge(q, kv), 0],
      [eq(q, kv), 0],
      [ne(q, kv), 1],
      [not(lt(q, kv)), 0],
      [and(lt(q, kv), eq(q, 3)), 1],
      [and(lt(q, kv), eq(q, 4)), 0],
      [or(gt(q, kv), eq(q, 3)), 1],
      [or(gt(q, kv), eq(q, 4)), 0],
      [eq(lt(q, kv), true), 1],
      [toF32(lt(q, kv)), 1],
    ];
    for (const [expr, value] of values) expect(at(expr, place)).toBe(value);
  });

  it.each([
    [7, 3, 2, 1],
    [-7, 3, -3, 2],
    [7, -3, -3, -2],
    [-7, -3, 2, -1],
    [-6, 3, -2, 0],
    [5, 0, 5, 0],
    [-(2 ** 31), -1, -(2 ** 31), 0],
  ])('rounds the quotient of %i and %i down to %i, with remainder %i', (a, b, quotient, remainder) => {
    expect(at(floorDiv(q, kv), { q: a, kv: b })).toBe(quotient);
    expect(at(mod(q, kv), { q: a, kv: b })).toBe(remainder);
  });

  it.each([
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [-1.5, -2],
    [-0.5, -0],
    [-0.3, -0],
    [-0, -0],
  ])('rounds %d to %d, the sign of 0 included', (x, expected) => {
    expect(at(round(score), { score: x })).toBe(expected);
  });

  it('wraps i32 arithmetic around', () => {
    expect(at(add(q, 1), { q: 2 ** 31 - 1 })).toBe(-(2 ** 31));
    expect(at(mul(q, kv), { q: 123456789, kv: 987654321 })).toBe(Math.imul(123456789, 987654321));
    expect(at(neg(q), { q: -(2 ** 31) })).toBe(-(2 ** 31));
  });

  it('evaluates only the side of a select that is chosen, so that loads can be guarded', () => {
    const previous = select(gt(q, 0), load('x', [sub(q, 1)]), 0);
    const run = compile(previous, hostLoaders({ x: Tensor.from([4, 5], [2]) }));
    expect([0, 1, 2].map(i => run(0, 0, 0, i, 0))).toEqual([0, 4, 5]);
  });

  it('takes time linear in the number of nodes to compile a shared expression', () => {
    let x = add(score, 0);
    for (let n = 0; n < 200; n++) x = mul(x, x);
    expect(compile(x)).toBeTypeOf('function');
  });
});

describe('hostLoaders', () => {
  const table = Tensor.from([1, 2, 3, 4, 5, 6], [3, 2], { dtype: 'bf16' }).permute(1, 0);

  it('reads captures through their strides and dtypes', () => {
    const run = compile(load('table', [h, kv]), hostLoaders({ table }));
    expect(run(0, 0, 1, 0, 2)).toBe(6);
  });

  it('reads one capture at an index taken from another', () => {
    const order = Tensor.from([2, 0, 1], [3], { dtype: 'i32' });
    const run = compile(
      load('table', [0, load('order', [load('order', [kv], 'i32')], 'i32')]),
      hostLoaders({ table, order }),
    );
    expect([0, 1, 2].map(j => run(0, 0, 0, 0, j))).toEqual([3, 5, 1]);
  });

  it('reads u32 as the i32 with the same bits', () => {
    const ids = Tensor.from([2 ** 32 - 1], [1], { dtype: 'u32' });
    expect(compile(load('ids', [0], 'i32'), hostLoaders({ ids }))(0, 0, 0, 0, 0)).toBe(-1);
  });

  it('names the capture that is missing', () => {
    expect(() => compile(load('slopes', [h]), hostLoaders({ table }))).toThrow(
      /^captures.slopes is missing: the expression loads from it/,
    );
    expect(() => compile(load('slopes', [h]))).toThrow(/^loaders must be given/);
  });

  it.each([
    [2, 0],
    [0, 3],
    [-1, 0],
  ])('names the capture that is read outside its shape at [%i, %i]', (i, j) => {
    const run = compile(load('table', [h, kv]), hostLoaders({ table }));
    expect(() => run(0, 0, i, 0, j)).toThrow(
      `captures.table was loaded at [${i},${j}], outside its shape [2,3]`,
    );
  });
});
