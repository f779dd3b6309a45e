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
