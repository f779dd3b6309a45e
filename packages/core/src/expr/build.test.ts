import { describe, expect, it } from 'vitest';
import {
  add,
  and,
  constant,
  div,
  eq,
  floorDiv,
  h,
  kv,
  load,
  lt,
  mod,
  mul,
  or,
  q,
  score,
  select,
  sqrt,
  sub,
  toF32,
} from './build.ts';
import type { NumericExpr } from './nodes/expr.ts';

describe('types of expressions', () => {
  it('lifts a number to the type of the operand beside it', () => {
    expect(add(q, 2)).toEqual({
      kind: 'binary',
      type: 'i32',
      op: 'add',
      a: q,
      b: { kind: 'constant', type: 'i32', value: 2 },
    });
    expect(add(2, score).type).toBe('f32');
  });

  it('converts an i32 next to an f32', () => {
    expect(mul(score, q)).toMatchObject({ type: 'f32', b: { kind: 'unary', op: 'toF32', a: q } });
  });

  it('converts an i32 next to a number that is not a 32-bit integer', () => {
    expect(mul(q, 0.5)).toMatchObject({ type: 'f32', a: { op: 'toF32' }, b: { value: 0.5 } });
    expect(lt(q, 2 ** 31)).toMatchObject({ a: { op: 'toF32' } });
  });

  it('converts the operands of division and of functions of f32', () => {
    expect(div(q, 2)).toMatchObject({ type: 'f32', a: { op: 'toF32' }, b: { type: 'f32', value: 2 } });
    expect(sqrt(q)).toMatchObject({ type: 'f32', a: { op: 'toF32' } });
  });

  it('reads captures as f32 unless told otherwise, with numbers as i32 indices', () => {
    expect(load('table', [h, 3])).toMatchObject({ type: 'f32', index: [h, { type: 'i32', value: 3 }] });
    expect(load('ids', [q], 'i32').type).toBe('i32');
  });

  it('folds constants', () => {
    expect(add(2, 3)).toEqual({ kind: 'constant', type: 'f32', value: 5 });
    expect(toF32(constant(7, 'i32'))).toEqual({ kind: 'constant', type: 'f32', value: 7 });
    expect(mul(constant(1 << 30, 'i32'), constant(4, 'i32'))).toMatchObject({ type: 'i32', value: 0 });
    expect(select(lt(1, 2), score, 0)).toBe(score);
  });

  it('joins any number of conditions', () => {
    expect(and()).toEqual({ kind: 'constant', type: 'bool', value: 1 });
    expect(or()).toEqual({ kind: 'constant', type: 'bool', value: 0 });
    const x = lt(q, kv);
    expect(and(x)).toBe(x);
    expect(and(x, x, x)).toEqual({
      kind: 'binary',
      type: 'bool',
      op: 'and',
      a: { kind: 'binary', type: 'bool', op: 'and', a: x, b: x },
      b: x,
    });
  });

  it('survives JSON, infinities included', () => {
    const expr = select(lt(q, kv), score, -Infinity);
    expect(JSON.parse(JSON.stringify(expr))).toEqual(expr);
    expect(expr).toMatchObject({ whenFalse: { type: 'f32', value: '-Infinity' } });
  });
});

describe('type errors', () => {
  // A value that an untyped caller could pass.
  const bool = lt(q, kv) as unknown as NumericExpr;

  it.each<[string, () => unknown, RegExp]>([
    ['add', () => add(bool, 1), /^add takes two of number, got bool and f32/],
    ['sub', () => sub(bool, q), /^sub takes two of number, got bool and i32/],
    ['floorDiv', () => floorDiv(score, 2), /^floorDiv takes two of i32, got f32 and i32/],
    ['mod', () => mod(q, 1.5), /^mod takes two of i32, got i32 and f32/],
    ['sqrt', () => sqrt(bool), /^sqrt takes f32, got bool/],
    ['eq', () => eq(bool, q), /^eq takes two of any type, got bool and i32/],
    ['select', () => select(q, 1, 2), /^select takes a bool condition, got i32/],
    ['select', () => select(lt(q, 1), bool, q), /^select takes two values of one type, got bool and i32/],
    ['load', () => load('table', [score]), /^load takes i32 indices, got f32 for index 0 of 'table'/],
    ['load', () => load('a b', [q]), /^load takes the name of a capture, .*got "a b"/],
    ['constant', () => add(score, NaN), /^constant must not be NaN/],
    ['constant', () => constant(0.5, 'i32'), /^constant must be a 32-bit integer, got 0.5/],
  ])('names %s and what it got', (op, build, message) => {
    expect(build).toThrow(message);
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: op }));
  });
});
