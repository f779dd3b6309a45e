import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { int, modelOf, type OperatorCase, text } from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';

const blocks = (op: string, shape: readonly number[], mode?: string): OperatorCase => ({
  ...{ op, opset: 13, inputs: [shape] },
  attributes: { blocksize: int(2), ...(mode !== undefined && { mode: text(mode) }) },
});

test.each<readonly [string, OperatorCase]>([
  ['channels become pixels', blocks('DepthToSpace', [2, 12, 2, 3])],
  ['channels become pixels, as after a pixel shuffle', blocks('DepthToSpace', [2, 12, 2, 3], 'CRD')],
  ['pixels become channels', blocks('SpaceToDepth', [2, 3, 4, 6])],
])('%s, as in onnxruntime', (_, one) => expectAsOnnxruntime(one));

test.each<readonly [string, OperatorCase, string]>([
  ['channels', blocks('DepthToSpace', [2, 6, 2, 2]), 'cannot divide 6 channels into blocks of 2 × 2'],
  ['an image', blocks('SpaceToDepth', [2, 3, 4, 5]), 'cannot divide an image of [4,5] into blocks of 2 × 2'],
])('%s that blocks do not divide are refused', async (_, one, message) => {
  const model = await fromOnnx(modelOf(one));
  expect(() => model.graph()).toThrow(message);
});

test.each([
  ['DCR', [0, 4, 1, 5, 2, 6, 3, 7]],
  ['CRD', [0, 1, 2, 3, 4, 5, 6, 7]],
])('pixels become channels in the order %s, which version 28 names', async (mode, expected) => {
  const model = await fromOnnx(modelOf({ ...blocks('SpaceToDepth', [1, 2, 2, 2], mode), opset: 28 }));
  const { y0 } = await model.run(cpuEngine(), { x0: Tensor.from([0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 2, 2]) });
  expect(Array.from(y0?.toFloat64() ?? [])).toEqual(expected);
  model.release();
});
