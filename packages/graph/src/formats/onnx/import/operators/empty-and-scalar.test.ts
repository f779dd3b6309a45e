import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { elementTypes, i64, modelOf, type OperatorCase } from '../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../index.ts';

const { F32, U8 } = elementTypes;

const cases: Readonly<Record<string, OperatorCase>> = {
  'an empty axis read backwards': {
    ...{ op: 'Slice', opset: 13 },
    inputs: [[2, 0], i64([-1]), i64([-9]), i64([1]), i64([-1])],
  },
  'a number quantized by itself': {
    ...{ op: 'DynamicQuantizeLinear', opset: 11, types: [U8, F32, U8] },
    inputs: [[]],
  },
};

test.each(Object.entries(cases))('%s is as in onnxruntime', (_, one) => expectAsOnnxruntime(one));

test('a cubic Resize may leave no elements', async () => {
  const bytes = modelOf({
    ...{ op: 'Resize', opset: 18 },
    inputs: [[1, 2, 5], { ...i64([]), type: F32 }, { ...i64([]), type: F32 }, i64([1, 2, 1])],
    attributes: { mode: { string: 'cubic' }, keep_aspect_ratio_policy: { string: 'not_larger' } },
  });
  const model = await fromOnnx(bytes);
  const { y0 } = await model.run(cpuEngine(), { x0: Tensor.zeros([1, 2, 5]) });
  // 0.2 of an axis of one or two elements rounds to none.
  expect(y0?.shape).toEqual([0, 0, 1]);
  model.release();
});
