import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  i64,
  modelOf,
  type OperatorCase,
  text,
  u8,
} from '../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../index.ts';

const { F32, I32, I64, U8 } = elementTypes;

const cases: Readonly<Record<string, OperatorCase>> = {
  'an empty axis read backwards': {
    ...{ op: 'Slice', opset: 13 },
    inputs: [[2, 0], i64([-1]), i64([-9]), i64([1]), i64([-1])],
  },
  'a number quantized by itself': {
    ...{ op: 'DynamicQuantizeLinear', opset: 11, types: [U8, F32, U8] },
    inputs: [[]],
  },
  'the largest 0 elements': {
    ...{ op: 'TopK', opset: 11, types: [F32, I64] },
    inputs: [[2, 3], i64([0])],
  },
  'an Einsum along an empty axis': {
    ...{ op: 'Einsum', opset: 12, attributes: { equation: text('ij,jk->ik') } },
    inputs: [
      [2, 0],
      [0, 3],
    ],
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

// onnxruntime refuses channels without an image.
test.each(['GlobalAveragePool', 'GlobalMaxPool'])(
  '%s of channels of one element changes nothing',
  async op => {
    const model = await fromOnnx(modelOf({ op, opset: 17, inputs: [[1, 2]] }));
    const { y0 } = await model.run(cpuEngine(), { x0: Tensor.from([3, -4], [1, 2]) });
    expect(y0.shape).toEqual([1, 2]);
    expect([...y0.toFloat32()]).toEqual([3, -4]);
    model.release();
  },
);

// onnxruntime returns numbers that it has not written.
test('a product of integers along an empty axis is 0', async () => {
  const inputs = [u8([], [2, 0]), u8([], [0, 3])];
  const model = await fromOnnx(modelOf({ op: 'MatMulInteger', opset: 10, inputs, types: [I32] }));
  const { y0 } = await model.run(cpuEngine(), {});
  expect(y0.shape).toEqual([2, 3]);
  expect([...y0.toFloat32()]).toEqual([0, 0, 0, 0, 0, 0]);
  model.release();
});

test('an Einsum broadcasts an axis of one element to an empty axis', async () => {
  const equation = text('ij,jk->ik');
  const model = await fromOnnx(
    modelOf({
      op: 'Einsum',
      opset: 12,
      inputs: [
        [2, 1],
        [0, 3],
      ],
      attributes: { equation },
    }),
  );
  const x0 = Tensor.from([1, 2], [2, 1]);
  const { y0 } = await model.run(cpuEngine(), { x0, x1: Tensor.zeros([0, 3]) });
  expect(y0.shape).toEqual([2, 3]);
  expect([...y0.toFloat32()]).toEqual([0, 0, 0, 0, 0, 0]);
  model.release();
});

test('a Resize of an empty axis to a huge one is refused', async () => {
  const none = { ...i64([]), type: F32 };
  const bytes = modelOf({
    ...{ op: 'Resize', opset: 18, attributes: { mode: text('linear') } },
    inputs: [[2, 0], none, none, i64([2, 1e9])],
  });
  const model = await fromOnnx(bytes);
  expect(() => model.graph()).toThrow('resizes 0 elements to 1000000000');
});
