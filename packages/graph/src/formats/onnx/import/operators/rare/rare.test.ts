import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  f32,
  float,
  held,
  i64,
  int,
  ints,
  modelOf,
  type OperatorCase,
  text,
  u8,
} from '../../../../../../testing/onnx/operator-case.ts';
import { gradients } from '../../../../../gradients.ts';
import { fromOnnx } from '../../../index.ts';
import type { OnnxAttribute } from '../../../model.ts';

type Attributes = Readonly<Record<string, OnnxAttribute>>;

const transposed = (attributes: Attributes, x: readonly number[], ...rest: (readonly number[])[]) => ({
  ...{ op: 'ConvTranspose', opset: 11, attributes },
  inputs: [x, ...rest],
});
const [U8, I64] = [elementTypes.U8, elementTypes.I64];
const bytes = (count: number): number[] => Array.from({ length: count }, (_, n) => (37 * n * n + 11) % 256);
const scale = f32([0.02], []);
const quantized = [u8(bytes(50), [1, 2, 5, 5]), scale, u8([120], [])];

const cases: readonly (readonly [string, OperatorCase])[] = [
  ['a transposed convolution', transposed({}, [2, 3, 4, 5], [3, 2, 2, 3], [2])],
  [
    'a transposed convolution with strides, pads, dilations and output padding',
    transposed(
      { strides: ints(3, 2), pads: ints(1, 0, 2, 1), dilations: ints(1, 2), output_padding: ints(2, 1) },
      [1, 2, 4, 3],
      [2, 3, 3, 2],
    ),
  ],
  ['a transposed convolution in groups', transposed({ group: int(2) }, [1, 4, 5], [4, 3, 2], [6])],
  [
    'a transposed convolution to given extents',
    transposed({ strides: ints(2, 2), output_shape: ints(8, 9) }, [1, 2, 4, 4], [2, 1, 3, 3]),
  ],
  ...['SAME_UPPER', 'SAME_LOWER', 'VALID'].map(
    auto =>
      [
        `a transposed convolution with the pads ${auto}`,
        transposed({ strides: ints(2), auto_pad: text(auto) }, [1, 2, 4], [2, 1, 5]),
      ] as const,
  ),
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
  [
    'a product of quantized matrices',
    {
      ...{ op: 'QLinearMatMul', opset: 10, types: [U8] },
      inputs: [
        ...[u8(bytes(12), [3, 4]), scale, u8([7], [])],
        ...[u8(bytes(8), [4, 2]), f32([0.01, 0.03]), u8([3, 130]), f32([0.5], []), u8([90], [])],
      ],
    },
  ],
  [
    'a convolution of quantized images, with a bias',
    {
      ...{ op: 'QLinearConv', opset: 10, types: [U8], attributes: { pads: ints(1, 0, 0, 1) } },
      inputs: [
        ...quantized,
        held(3, [3, 2, 2, 2], Int8Array.from(bytes(24))),
        f32([0.01, 0.02, 0.03]),
        held(3, [3], Int8Array.of(0, 0, 0)),
        ...[f32([0.4], []), u8([100], []), held(elementTypes.I32, [3], Int32Array.of(500, -300, 0))],
      ],
    },
  ],
  [
    'Upsample',
    {
      op: 'Upsample',
      opset: 9,
      inputs: [[1, 2, 2, 3], f32([1, 1, 2, 1.5])],
      attributes: { mode: text('linear') },
    },
  ],
  ['Upsample to the nearest', { op: 'Upsample', opset: 9, inputs: [[1, 1, 2, 3], f32([1, 1, 2, 3])] }],
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

test.each<readonly [string, OperatorCase, string]>([
  [
    'channels that differ from the filters',
    transposed({}, [1, 3, 4], [2, 1, 3]),
    'cannot convolve [1,3,4] with',
  ],
  [
    'pads that leave nothing',
    transposed({ pads: ints(2, 2) }, [1, 1, 2], [1, 1, 3]),
    'has a result of extents [0]',
  ],
])('a transposed convolution with %s is refused', async (_, one, message) => {
  const model = await fromOnnx(modelOf(one));
  expect(() => model.graph()).toThrow(message);
});

test('the places of numbers that only the graph computes are refused', async () => {
  const model = await fromOnnx(modelOf({ op: 'NonZero', opset: 13, inputs: [[3]], types: [I64] }));
  expect(() => model.graph()).toThrow("needs the numbers of 'x0' before the graph runs");
});
