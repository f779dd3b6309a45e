import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import {
  i64,
  int,
  modelOf,
  type OperatorCase,
  text,
  u8,
} from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';
import { encodeModel } from '../../../model.ts';

const attributes = { reduction: text('mul') };

test.each<readonly [string, OperatorCase]>([
  [
    'ScatterElements',
    { op: 'ScatterElements', opset: 18, inputs: [u8([20, 3]), i64([0, 0]), u8([3, 5])], attributes },
  ],
  [
    'ScatterND',
    { op: 'ScatterND', opset: 18, inputs: [u8([20, 3]), i64([0, 0], [2, 1]), u8([3, 5])], attributes },
  ],
])('%s drops the upper bits of a product of bytes', async (_, one) => {
  const model = await fromOnnx(modelOf({ ...one, types: [2] }));
  const { y0 } = await model.run(cpuEngine(), {});
  expect([...y0.toFloat32()]).toEqual([(20 * 3 * 5) % 256, 3]);
  model.release();
});

test('a circular TensorScatter continues at the first position, which need not be known before the run', async () => {
  const bytes = encodeModel({
    ...{ name: 'cache', opset: 24, initializers: [] },
    nodes: [
      {
        ...{ op: 'TensorScatter', name: 'cache', inputs: ['past', 'update', 'first'], outputs: ['present'] },
        attributes: { mode: text('circular'), axis: int(1) },
      },
    ],
    inputs: [
      { name: 'past', type: 1, shape: [2, 4] },
      { name: 'update', type: 1, shape: [2, 3] },
      { name: 'first', type: 7, shape: [2] },
    ],
    outputs: [{ name: 'present', type: 1, shape: null }],
  });
  const model = await fromOnnx(bytes);
  expect(model.graph().specialised.size).toBe(0);
  const update = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const first = Tensor.from([3, 1], [2], { dtype: 'i32' });
  const { present } = await model.run(cpuEngine(), { past: Tensor.zeros([2, 4]), update, first });
  expect([...present.toFloat32()]).toEqual([2, 3, 0, 1, 0, 4, 5, 6]);
  model.release();
});
