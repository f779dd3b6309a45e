import type { Shape } from '@tilewise/core';
import { add, gt, mul, select } from '@tilewise/core/expr';
import { input, type MatMulPrimitive } from '@tilewise/core/primitive';
import { describe, test } from 'vitest';
import { expectAsOnHost, filled, numbers } from '../../../testing/primitive/primitive-run.ts';

/** (A·B + x2)·x3, clamped at 0; the product is x4. */
const sum = add(input(4), input(2));
const primitive: MatMulPrimitive = { kind: 'matmul', result: select(gt(sum, 0), mul(sum, input(3)), 0) };

describe('a product with an epilogue equals the one on the host', () => {
  test.each([
    ['a matrix', [30, 40], [40, 24], [30, 24]],
    ['rows of odd length', [5, 8], [8, 7], [5, 7]],
    ['a linear layer of a batch', [3, 10, 16], [16, 12], [3, 10, 12]],
    ['a batch', [2, 3, 9, 8], [2, 1, 8, 10], [2, 3, 9, 10]],
    ['a long sum in parts', [8, 4000], [4000, 8], [8, 8]],
    ['a row', [1, 64], [64, 100], [1, 100]],
  ] as const)('%s', async (_, a, b, c) => {
    const scale = 0.1;
    const bias = numbers(c.slice(-1), 3);
    const full = numbers(c, 4);
    await expectAsOnHost(
      primitive,
      [numbers(a, 1, { scale }), numbers(b, 2, { scale }), bias, full],
      [filled(c)],
    );
  });

  test('contiguous columns, and 16-bit operands', async () => {
    const c = filled([12, 20], { strides: [1, 12] });
    const operands = [
      numbers([12, 1], 3, { dtype: 'f16' }),
      numbers([20, 12], 4, { dtype: 'bf16' }).permute(1, 0),
    ];
    await expectAsOnHost(primitive, [numbers([12, 8], 1), numbers([8, 20], 2), ...operands], [c]);
  });
});

describe('a sum of products, with an epilogue, equals the one on the host', () => {
  const cases: Readonly<Record<string, readonly Shape[]>> = {
    'terms of any inner dimension': [
      [70, 36],
      [36, 48],
      [70, 9],
      [9, 48],
    ],
    'whole tiles': [
      [64, 32],
      [32, 64],
      [64, 64],
      [64, 64],
    ],
    'long sums in parts, of which one has fewer': [
      [8, 4000],
      [4000, 8],
      [8, 700],
      [700, 8],
    ],
    'few columns': [
      [40, 12],
      [12, 3],
      [40, 5],
      [5, 3],
    ],
    'a linear layer of a batch': [
      [3, 10, 16],
      [16, 12],
      [3, 10, 8],
      [8, 12],
    ],
    'a batch': [
      [2, 3, 9, 8],
      [2, 1, 8, 10],
      [3, 9, 4],
      [2, 3, 4, 10],
    ],
  };
  test.each(Object.entries(cases))('%s', async (_, shapes) => {
    const operands = shapes.map((shape, n) => numbers(shape, n, { scale: 0.1 }));
    const c = [...operands[0].shape.slice(0, -1), operands[1].shape.at(-1) ?? 0];
    await expectAsOnHost({ kind: 'matmul', terms: 2 }, operands, [filled(c)]);
    const result = add(input(5), mul(input(4), 2));
    await expectAsOnHost({ kind: 'matmul', terms: 2, result }, [...operands, numbers(c, 7)], [filled(c)]);
  });

  test('contiguous columns, three terms, and 16-bit operands', async () => {
    const operands = [numbers([12, 8], 1), numbers([8, 20], 2), numbers([12, 4], 3, { dtype: 'f16' })];
    const last = [numbers([20, 4], 4).permute(1, 0), numbers([12, 6], 5), numbers([6, 20], 6)];
    const c = filled([12, 20], { strides: [1, 12] });
    await expectAsOnHost({ kind: 'matmul', terms: 3 }, [...operands, ...last], [c]);
  });
});
