import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { modelOf } from '../../../../../../testing/onnx/operator-case.ts';
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

test('other pooling is refused by name', async () => {
  const model = await fromOnnx(modelOf({ op: 'MaxPool', opset: 17, inputs: [[1, 1, 4, 4]] }));
  expect(() => model.graph()).toThrow(/MaxPool '.*': is not supported/);
});
