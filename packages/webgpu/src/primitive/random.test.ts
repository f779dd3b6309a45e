import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { expectAsOnHost, filled, runOnGpu } from '../../testing/primitive/primitive-run.ts';

const words = (low: number, high = 0) => Tensor.from([low, high], [2], { dtype: 'u32' });
const stream = [words(123456, 77), words(1, 5)];

test.each([0, 1e-12, 2 ** -24, 0.1, 0.25, 0.3333, 0.5, 0.9, 0.9999999, 1])(
  'decisions with p = %s are those of the host, bit by bit',
  async p => {
    const primitive = { kind: 'random', distribution: 'bernoulli' } as const;
    await expectAsOnHost(
      primitive,
      [...stream, Tensor.from([p], [])],
      [filled([3, 2, 333], { dtype: 'u8' })],
      0,
    );
  },
);

test('the draw of an element does not depend on its position in memory or its dtype', async () => {
  const primitive = { kind: 'random', distribution: 'bernoulli' } as const;
  const inputs = [...stream, Tensor.from([0.4], [])];
  for (const dtype of ['bool', 'f32', 'f16', 'u8'] as const) {
    await expectAsOnHost(primitive, inputs, [filled([5, 7], { dtype, strides: [9, 1], offset: 1 })], 0);
    await expectAsOnHost(primitive, inputs, [filled([4, 8], { dtype, strides: [1, 4] })], 0);
  }
});

test('uniform numbers are those of the host, bit by bit', async () => {
  const primitive = { kind: 'random', distribution: 'uniform' } as const;
  await expectAsOnHost(primitive, stream, [filled([1001])], 0);
});

test('seed and offset may have gaps between their words', async () => {
  const primitive = { kind: 'random', distribution: 'uniform' } as const;
  const words = Tensor.from([123456, 77, 1, 5], [2, 2], { dtype: 'u32' });
  const column = (n: number) => words.slice(1, n, n + 1).reshape([2]);
  await expectAsOnHost(primitive, [column(0), column(1)], [filled([9])], 0);
});

test('another offset gives other numbers', async () => {
  const primitive = { kind: 'random', distribution: 'uniform' } as const;
  const [first] = await runOnGpu(primitive, [words(1), words(1)], [filled([8])]);
  const [second] = await runOnGpu(primitive, [words(1), words(2)], [filled([8])]);
  expect(first.data).not.toEqual(second.data);
});
