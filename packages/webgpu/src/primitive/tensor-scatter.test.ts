import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../testing/primitive/primitive-run.ts';

const first = (...places: number[]) => Tensor.from(places, [places.length], { dtype: 'i32' });

test('only the update is written', async () => {
  const update = Tensor.from([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 2, 2]);
  const past = Tensor.from(new Array(16).fill(9), [2, 1, 4, 2]);
  const [present] = await runOnGpu({ kind: 'tensor-scatter', axis: 2 }, [update, first(1, 3)], [past]);
  expect([...present.toFloat32()]).toEqual([9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9, 5, 6]);
});

test.each(['f16', 'bf16', 'i32', 'bool'] as const)('elements of %s, strided', async dtype => {
  const update = Tensor.from([1, 0, 1, 1, 0, 1], [2, 3], { dtype });
  const past = filled([2, 7], { dtype, strides: [9, 1], offset: 1 });
  await expectAsOnHost({ kind: 'tensor-scatter', axis: 1 }, [update, first(3, -1)], [past]);
});

test('more elements than a workgroup has invocations', async () => {
  const tensors = [numbers([3, 50, 7], 1), first(0, 40, 7)];
  await expectAsOnHost({ kind: 'tensor-scatter', axis: 1 }, tensors, [Tensor.zeros([3, 90, 7])]);
});
