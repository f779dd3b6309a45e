import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { int, ints, modelOf, type OperatorCase, text } from '../../../../../../testing/onnx/operator-case.ts';
import { gradients } from '../../../../../gradients.ts';
import { fromOnnx } from '../../../index.ts';
import type { OnnxAttribute } from '../../../model.ts';

type Attributes = Readonly<Record<string, OnnxAttribute>>;

const transposed = (attributes: Attributes, x: readonly number[], ...rest: (readonly number[])[]) => ({
  ...{ op: 'ConvTranspose', opset: 11, attributes },
  inputs: [x, ...rest],
});

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
];

test.each(cases)('%s is as in onnxruntime', async (_, one) => {
  await expect(expectAsOnnxruntime(one)).resolves.toBeUndefined();
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

// PyTorch exports such a node; onnxruntime does not run it.
test('elements that output padding adds beyond the last window are the bias', async () => {
  const attributes = { dilations: ints(2), output_padding: ints(1) };
  const model = await fromOnnx(modelOf(transposed(attributes, [1, 1, 2], [1, 1, 2], [1])));
  const { y0 } = await model.run(cpuEngine(), {
    x0: Tensor.from([1, 2], [1, 1, 2]),
    x1: Tensor.from([3, 4], [1, 1, 2]),
    x2: Tensor.from([10], [1]),
  });
  expect(Array.from(y0?.toFloat64() ?? [])).toEqual([13, 16, 14, 18, 10]);
  model.release();
});

test('the gradients of a transposed convolution with a stride and output padding', async () => {
  const attributes = { strides: ints(2), output_padding: ints(1) };
  const model = await fromOnnx(modelOf(transposed(attributes, [1, 1, 2], [1, 1, 2], [1])));
  const { graph, inputs, outputs } = model.graph();
  const { x0: x, x1: w, x2: bias } = inputs;
  const backward = gradients(graph, { of: outputs.y0, withRespectTo: [x, w, bias] });
  const [seed] = [...backward.seeds.values()];
  const results = await backward.run(cpuEngine(), {
    [x.id]: Tensor.from([1, 2], [1, 1, 2]),
    [w.id]: Tensor.from([3, 4], [1, 1, 2]),
    [seed.id]: Tensor.from([1, 10, 100, 1000, 10000], [1, 1, 5]),
  });
  const [dx, dw, dbias] = [x, w, bias].map(({ id }) => [
    ...results[backward.gradients.get(id)?.id ?? -1].toFloat64(),
  ]);
  expect(dx).toEqual([3 * 1 + 4 * 10, 3 * 100 + 4 * 1000]);
  expect(dw).toEqual([1 * 1 + 2 * 100, 1 * 10 + 2 * 1000]);
  expect(dbias).toEqual([11111]);
  model.release();
});
