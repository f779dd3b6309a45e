import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  f32,
  float,
  i64,
  int,
  modelOf,
  type OperatorCase,
  text,
} from '../../../../../../testing/onnx/operator-case.ts';
import { gradients } from '../../../../../gradients.ts';
import { fromOnnx } from '../../../index.ts';

const { I64 } = elementTypes;

const cases: readonly (readonly [string, OperatorCase])[] = [
  [
    'a norm over neighbouring channels',
    { op: 'LRN', opset: 13, inputs: [[2, 7, 3, 2]], attributes: { size: int(5), alpha: float(0.5) } },
  ],
  ...[1, 2].map(
    p =>
      [
        `an L${p} normalization`,
        { op: 'LpNormalization', opset: 1, inputs: [[3, 4]], attributes: { p: int(p), axis: int(0) } },
      ] as const,
  ),
  [
    'the places of numbers that are not 0',
    { op: 'NonZero', opset: 13, inputs: [f32([0, 1, 0, 2, 3, 0], [2, 3])], types: [I64] },
  ],
  ...['none', 'sum', 'mean'].flatMap(reduction =>
    ['NegativeLogLikelihoodLoss', 'SoftmaxCrossEntropyLoss'].map(
      op =>
        [
          `${op} with the reduction ${reduction}`,
          {
            ...{ op, opset: 13 },
            inputs: [[2, 3, 2], i64([0, 2, -100, 1], [2, 2]), f32([1, 2, 0.5])],
            attributes: { reduction: text(reduction), ignore_index: int(-100) },
          },
        ] as const,
    ),
  ),
];

test.each(cases)('%s is as in onnxruntime', (_, one) => expectAsOnnxruntime(one));

test('SwiGLU multiplies by the Swish of the gate', async () => {
  const bytes = modelOf({ op: 'SwiGLU', opset: 28, inputs: [[2], [2]], attributes: { alpha: float(2) } });
  const model = await fromOnnx(bytes);
  const { y0 } = await model.run(cpuEngine(), {
    x0: Tensor.from([1, -2], [2]),
    x1: Tensor.from([3, 5], [2]),
  });
  const swish = (x: number): number => x / (1 + Math.exp(-2 * x));
  expect(y0?.toFloat64()[0]).toBeCloseTo(3 * swish(1), 5);
  expect(y0?.toFloat64()[1]).toBeCloseTo(5 * swish(-2), 5);
  model.release();
});

test('the gradient of a loss of labels is that of cross-entropy', async () => {
  const model = await fromOnnx(
    modelOf({ op: 'SoftmaxCrossEntropyLoss', opset: 13, inputs: [[2, 2], i64([1, 0])] }),
  );
  const { graph, inputs, outputs } = model.graph();
  const backward = gradients(graph, { of: outputs.y0, withRespectTo: [inputs.x0] });
  const x = Tensor.from([0, 0, Math.log(3), 0], [2, 2]);
  const results = await backward.run(cpuEngine(), {
    [inputs.x0.id]: x,
    ...Object.fromEntries([...backward.seeds.values()].map(({ id }) => [id, Tensor.from([1], [])])),
  });
  const dx = results[backward.gradients.get(inputs.x0.id)?.id ?? -1];
  const close = [0.25, -0.25, -0.125, 0.125].map(value => expect.closeTo(value, 5));
  expect(Array.from(dx.toFloat64())).toEqual(close);
  model.release();
});

test('the places of numbers that only the graph computes are refused', async () => {
  const model = await fromOnnx(modelOf({ op: 'NonZero', opset: 13, inputs: [[3]], types: [I64] }));
  expect(() => model.graph()).toThrow("needs the numbers of 'x0' before the graph runs");
});
