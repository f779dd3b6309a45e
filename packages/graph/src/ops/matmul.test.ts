import { describe, expect, test } from 'vitest';
import { runOperation } from '../../testing/compare/run-operation.ts';

describe('MatMul', () => {
  const m = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3] };
  const v = { values: [1, 10, 100] };

  test('of vectors and matrices', async () => {
    expect(await runOperation('MatMul', [v, v])).toEqual([[10101]]);
    expect(await runOperation('MatMul', [m, v])).toEqual([[321, 654]]);
    expect(await runOperation('MatMul', [v, m], { transpose_b: true })).toEqual([[321, 654]]);
    expect(await runOperation('MatMul', [m, m], { transpose_a: true })).toEqual([
      [17, 22, 27, 22, 29, 36, 27, 36, 45],
    ]);
    expect(await runOperation('MatMul', [m, m, { values: [1, 2] }], { transpose_b: true })).toEqual([
      [15, 34, 33, 79],
    ]);
  });

  test('adds a bias to products of vectors', async () => {
    const bias = { values: [1000, 2000] };
    expect(await runOperation('MatMul', [m, v, bias])).toEqual([[1321, 2654]]);
    expect(await runOperation('MatMul', [v, m, bias], { transpose_b: true })).toEqual([[1321, 2654]]);
    expect(await runOperation('MatMul', [v, v, { values: [1], shape: [] }])).toEqual([[10102]]);
  });

  test('adds a bias in f32 and rounds the sum', async () => {
    const a = { values: [256], shape: [1, 1], dtype: 'bf16' as const };
    const one = { values: [1], shape: [1, 1], dtype: 'bf16' as const };
    const bias = { values: [1], dtype: 'bf16' as const };
    // 257 is halfway between two bf16 numbers.
    expect(await runOperation('MatMul', [a, one, bias], {}, ['bf16'])).toEqual([[256]]);
    expect(await runOperation('MatMul', [a, one, bias], {}, ['f32'])).toEqual([[257]]);
  });
});
