import { add, constant, type NumericExpr } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { createKernelMemo } from './kernel-memo.ts';

/** Whether the second of two data finds what was made from the first. */
function isSame(first: unknown, second: unknown): boolean {
  const memo = createKernelMemo();
  const value = memo(first, () => ({}));
  return memo(second, () => ({})) === value;
}

test('equal data find the same value, whichever objects they consist of', () => {
  const data = () => ({ shape: [2, 3], value: add(input(0), constant(1)), names: ['x0'] });
  expect(isSame(data(), data())).toBe(true);
});

test('data that differ in one number, name or node find values of their own', () => {
  const value = (x: number): unknown => [add(input(0), constant(x))];
  expect(isSame({ shape: [2, 3] }, { shape: [3, 2] })).toBe(false);
  expect(isSame([['x0'], []], [[], ['x0']])).toBe(false);
  expect(isSame({ scale: NaN }, { scale: null })).toBe(false);
  expect(isSame(value(1), value(2))).toBe(false);
  for (const [a, b] of [
    [Infinity, -Infinity],
    [0, -0],
  ]) {
    expect(isSame(value(a), value(b)), `${a}, ${b}`).toBe(false);
    expect(isSame(value(a), value(a)), `${a}`).toBe(true);
  }
});

test('a tensor may have any name', () => {
  const captures = (dtype: string): unknown => ({ captures: { type: { dtype, shape: [2] } } });
  expect(isSame(captures('f32'), captures('f32'))).toBe(true);
  expect(isSame(captures('f32'), captures('f16'))).toBe(false);
});

test('data without a key are passed to the function that refuses them', () => {
  const memo = createKernelMemo();
  const cyclic: Record<string, unknown> = {};
  cyclic.itself = cyclic;
  for (const from of [3n, cyclic, { type: 'f32', kind: 'nothing' }]) {
    expect(() =>
      memo(from, () => {
        throw new RangeError('refused');
      }),
    ).toThrow('refused');
  }
});

test('an expression with shared nodes takes time by its nodes, not by its paths', () => {
  const doubled = (): NumericExpr => Array.from({ length: 60 }).reduce<NumericExpr>(e => add(e, e), input(0));
  expect(isSame([doubled()], [doubled()])).toBe(true);
});

test('values are remembered up to a limit, then made again', () => {
  const memo = createKernelMemo();
  const first = memo('first', () => ({}));
  for (let n = 0; n < 100; n++) memo(n, () => ({}));
  expect(memo('first', () => ({}))).toBe(first);
  for (let n = 0; n < 300; n++) memo(n, () => ({}));
  expect(memo('first', () => ({}))).not.toBe(first);
});
