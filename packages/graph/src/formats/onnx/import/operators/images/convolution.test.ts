import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  f32,
  held,
  ints,
  type OperatorCase,
  u8,
} from '../../../../../../testing/onnx/operator-case.ts';

const bytes = (count: number): number[] => Array.from({ length: count }, (_, n) => (37 * n * n + 11) % 256);
const signed = (count: number): number[] => bytes(count).map(x => x - 128);

/** A convolution of an image of 2 channels with 3 filters, with pads. */
const convolution = (...zeros: OperatorCase['inputs']): OperatorCase => ({
  ...{ op: 'ConvInteger', opset: 17, types: [elementTypes.I32], attributes: { pads: ints(1, 0, 0, 1) } },
  inputs: [
    u8(bytes(2 * 2 * 5 * 4), [2, 2, 5, 4]),
    held(3, [3, 2, 2, 2], Int8Array.from(signed(3 * 2 * 2 * 2))),
    ...zeros,
  ],
});

test.each<readonly [string, OperatorCase]>([
  ['bytes', convolution()],
  ['bytes with zero points', convolution(u8([7], []), held(3, [], Int8Array.of(-3)))],
  [
    'quantized images, with a bias',
    {
      ...{ op: 'QLinearConv', opset: 10, types: [elementTypes.U8], attributes: { pads: ints(1, 0, 0, 1) } },
      inputs: [
        ...[u8(bytes(50), [1, 2, 5, 5]), f32([0.02], []), u8([120], [])],
        held(3, [3, 2, 2, 2], Int8Array.from(bytes(24))),
        f32([0.01, 0.02, 0.03]),
        held(3, [3], Int8Array.of(0, 0, 0)),
        ...[f32([0.4], []), u8([100], []), held(elementTypes.I32, [3], Int32Array.of(500, -300, 0))],
      ],
    },
  ],
])('a convolution of %s is as in onnxruntime', async (_, one) => {
  await expect(expectAsOnnxruntime(one)).resolves.toBeUndefined();
});
