import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../testing/primitive/primitive-run.ts';

const scatterAdd = { kind: 'scatter-add' } as const;

function someRows(count: number, rows: number, dtype: 'i32' | 'u32' = 'i32'): Tensor {
  const values = Array.from({ length: count }, (_, n) => (n * n * 7 + 3 * n) % rows);
  return Tensor.from(values, [count], { dtype });
}

test.each([
  [10, 5, 8],
  [200, 70, 130],
  [3, 40, 1],
  [0, 3, 4],
] as const)('%s rows added to %s of %s numbers', async (count, rows, width) => {
  const updates = numbers([count, width], 1);
  await expectAsOnHost(scatterAdd, [someRows(count, rows), updates], [filled([rows, width])]);
});

test('indices outside are skipped', async () => {
  const indices = Tensor.from([1, -1, 5, 0, 1, 2147483647, -2147483648], [7], { dtype: 'i32' });
  await expectAsOnHost(scatterAdd, [indices, numbers([7, 3], 1)], [filled([5, 3])]);
});

test('of u32 indices and strided 16-bit rows', async () => {
  const updates = numbers([20, 6], 1, { dtype: 'bf16', strides: [7, 1], offset: 1 });
  const output = filled([9, 6], { dtype: 'bf16', strides: [7, 1], offset: 1 });
  await expectAsOnHost(scatterAdd, [someRows(20, 9, 'u32'), updates], [output]);
});

test('two runs give the same bits', async () => {
  const inputs = [someRows(500, 7), numbers([500, 64], 1, { scale: 1e3 })];
  const [first] = await runOnGpu(scatterAdd, inputs, [filled([7, 64])]);
  const [second] = await runOnGpu(scatterAdd, inputs, [filled([7, 64])]);
  expect(first.data).toEqual(second.data);
});
