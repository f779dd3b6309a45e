import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  int,
  ints,
  modelOf,
  type OperatorCase,
  text,
} from '../../../../../../testing/onnx/operator-case.ts';
import { UnsupportedOperationError } from '../../../../../errors.ts';
import { fromOnnx } from '../../../index.ts';

test.each(['GlobalAveragePool', 'GlobalMaxPool'])(
  '%s of lists, images and volumes is as in onnxruntime',
  async op => {
    for (const shape of [
      [2, 3, 5],
      [2, 3, 4, 5],
      [1, 2, 2, 3, 2],
    ])
      await expectAsOnnxruntime({ op, opset: 17, inputs: [shape] });
  },
);

describe.each(['MaxPool', 'AveragePool'])('%s is as in onnxruntime', op => {
  test.each([
    ['of a list', [2, 3, 7], { kernel_shape: ints(3) }],
    ['with strides', [1, 2, 7, 9], { kernel_shape: ints(2, 3), strides: ints(2, 3) }],
    ['with pads', [1, 2, 5, 6], { kernel_shape: ints(3, 3), strides: ints(2, 2), pads: ints(1, 0, 1, 1) }],
    [
      'with a window after the pads',
      [1, 2, 6, 7],
      { kernel_shape: ints(3, 3), strides: ints(2, 2), ceil_mode: int(1) },
    ],
    ['with pads as needed', [1, 1, 5, 5], { kernel_shape: ints(3, 2), auto_pad: text('SAME_LOWER') }],
    ['of a volume', [1, 2, 4, 3, 5], { kernel_shape: ints(2, 2, 3), strides: ints(1, 1, 2) }],
    [
      'with dilations',
      [1, 2, 8, 8],
      { kernel_shape: ints(3, 2), dilations: ints(2, 3), pads: ints(1, 1, 1, 1) },
    ],
  ])('%s', async (_, shape, attributes) => {
    await expectAsOnnxruntime({ op, opset: 19, inputs: [shape], attributes });
  });
});

test.each<OperatorCase['attributes']>([{}, { strides: ints(2, 2), ceil_mode: int(1) }])(
  'a mean may count pads: %j',
  async given => {
    const counted = { kernel_shape: ints(3, 3), pads: ints(1, 1, 1, 1), count_include_pad: int(1) };
    const attributes = { ...counted, ...given };
    await expectAsOnnxruntime({ op: 'AveragePool', opset: 17, inputs: [[1, 2, 4, 5]], attributes });
  },
);

test('the mean of a window with infinity at the border is infinity', async () => {
  const attributes = { kernel_shape: ints(3), pads: ints(1, 1) };
  const model = await fromOnnx(modelOf({ op: 'AveragePool', opset: 17, inputs: [[1, 1, 3]], attributes }));
  const { graph, outputs, inputs } = model.graph();
  const x = Tensor.from([Infinity, 1, 2], [1, 1, 3]);
  const results = await graph.run(cpuEngine(), { [Object.values(inputs)[0].id]: x });
  expect([...results[Object.values(outputs)[0].id].toFloat32()]).toEqual([Infinity, Infinity, 1.5]);
});

test.each([
  ['no kernel', {}],
  ['a kernel of another rank', { kernel_shape: ints(2) }],
  ['a kernel larger than the image', { kernel_shape: ints(5, 2) }],
  ['a stride of 0', { kernel_shape: ints(2, 2), strides: ints(0, 1) }],
  ['too many strides', { kernel_shape: ints(2, 2), strides: ints(1, 1, 1) }],
])('pooling with %s is refused', async (_, attributes) => {
  const model = await fromOnnx(modelOf({ op: 'MaxPool', opset: 17, inputs: [[1, 1, 4, 4]], attributes }));
  expect(() => model.graph()).toThrow(/^operation MaxPool '.*': /);
});

test('the indices of MaxPool are refused by name', async () => {
  const pooled = {
    op: 'MaxPool',
    opset: 17,
    inputs: [[1, 1, 4, 4]],
    attributes: { kernel_shape: ints(2, 2) },
  };
  const both = modelOf({ ...pooled, types: [elementTypes.F32, elementTypes.I64] });
  const read = await fromOnnx(both);
  expect(() => read.graph()).toThrow(
    new UnsupportedOperationError("MaxPool 'MaxPool'", 'has indices as an output, which are not supported'),
  );
});
