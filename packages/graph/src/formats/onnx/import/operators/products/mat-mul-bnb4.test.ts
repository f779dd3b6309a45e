import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { f32, int, modelOf, type OperatorCase, u8 } from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';

const [K, N, block] = [32, 3, 16];
const codes = Array.from({ length: (N * K) / 2 }, (_, n) => (37 * n * n + 11) % 256);
const largest = Array.from({ length: (N * K) / block }, (_, n) => 0.1 * (n + 1));

const product = (kind: number, bytes = codes): OperatorCase => ({
  ...{ op: 'MatMulBnb4', domain: 'com.microsoft', opset: 17 },
  inputs: [[2, K], u8(bytes), f32(largest)],
  attributes: { K: int(K), N: int(N), block_size: int(block), quant_type: int(kind) },
});

test.each([
  ['FP4', 0],
  ['NF4', 1],
])('a product with a matrix of %s is as in onnxruntime', (_, kind) => expectAsOnnxruntime(product(kind)));

test('codes of another number are refused', async () => {
  const model = await fromOnnx(modelOf(product(1, codes.slice(1))));
  expect(() => model.graph()).toThrow('that do not fit 3 × 32 in groups of 16');
});
