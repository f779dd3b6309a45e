import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { i64, modelOf, type OperatorCase, text, u8 } from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';

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
