import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { elementTypes, f32, u8 } from '../../../../../../testing/onnx/operator-case.ts';

const bytes = (count: number): number[] => Array.from({ length: count }, (_, n) => (37 * n * n + 11) % 256);

test('a product of quantized matrices is as in onnxruntime', async () => {
  const one = {
    ...{ op: 'QLinearMatMul', opset: 10, types: [elementTypes.U8] },
    inputs: [
      ...[u8(bytes(12), [3, 4]), f32([0.02], []), u8([7], [])],
      ...[u8(bytes(8), [4, 2]), f32([0.01, 0.03]), u8([3, 130]), f32([0.5], []), u8([90], [])],
    ],
  };
  await expect(expectAsOnnxruntime(one)).resolves.toBeUndefined();
});
