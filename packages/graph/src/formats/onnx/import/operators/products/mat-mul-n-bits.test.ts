import { processorTime } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  f32,
  type Given,
  held,
  i64,
  int,
  modelOf,
  type OperatorCase,
  u8,
} from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';

const [K, N, block] = [40, 3, 16];
const groups = Math.ceil(K / block);
const bytes = (count: number): number[] => Array.from({ length: count }, (_, n) => (37 * n * n + 11) % 256);
const scales = f32(Array.from({ length: N * groups }, (_, n) => 0.01 * (n + 1)));

function product(bits: 4 | 8, ...zeros: readonly Given[]): OperatorCase {
  const bytesOfGroup = (block * bits) / 8;
  const codes = u8(bytes(N * groups * bytesOfGroup), [N, groups, bytesOfGroup]);
  return {
    ...{ op: 'MatMulNBits', domain: 'com.microsoft', opset: 17 },
    inputs: [[2, K], codes, scales, ...zeros],
    attributes: { K: int(K), N: int(N), bits: int(bits), block_size: int(block) },
  };
}

describe('a product with a quantized matrix is as in onnxruntime', () => {
  test.each<readonly [string, OperatorCase]>([
    ['of 4 bits', product(4)],
    ['of 4 bits, with packed zero points', product(4, u8(bytes(N * Math.ceil(groups / 2))))],
    ['of 8 bits, with zero points', product(8, u8(bytes(N * groups)))],
  ])('%s', (_, one) => expectAsOnnxruntime(one));
});

const rows = (bits: 4 | 8, ...zeros: readonly Given[]): OperatorCase => ({
  ...{ op: 'GatherBlockQuantized', domain: 'com.microsoft', opset: 17 },
  inputs: [
    u8(bytes(5 * 4 * bits), [5, 4 * bits]),
    i64([4, 0, 2, 2], [2, 2]),
    f32([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], [5, 2]),
    ...zeros,
  ],
  attributes: { bits: int(bits), block_size: int(16) },
});

describe('rows of a quantized matrix are as in onnxruntime', () => {
  test.each<readonly [string, OperatorCase]>([
    ['of 4 bits', rows(4)],
    ['of 4 bits, with packed zero points', rows(4, u8([0x21, 0x43, 0x65, 0x87, 0xa9], [5, 1]))],
    ['of 8 bits', rows(8)],
  ])('%s', (_, one) => expectAsOnnxruntime(one));
});

test('rows of blocks along the first dimension are refused', async () => {
  const one = rows(4);
  const model = await fromOnnx(modelOf({ ...one, attributes: { ...one.attributes, quantize_axis: int(0) } }));
  expect(() => model.graph()).toThrow('in whole blocks along K');
});

test.each<readonly [string, OperatorCase, string]>([
  ['of an input of the model', product(4, [N * groups]), "needs the numbers of 'x3' before the graph runs"],
  ['of another number', product(8, u8([1, 2])), 'zero points that do not fit 3 × 3 groups'],
])('zero points %s are refused', async (_, one, message) => {
  const model = await fromOnnx(modelOf(one));
  expect(() => model.graph()).toThrow(message);
});

test('a matrix of sixteen million elements is read within a second', async () => {
  const [rows, columns] = [16_384, 1024];
  const model = await fromOnnx(
    modelOf({
      ...product(4),
      inputs: [
        [1, columns],
        held(elementTypes.U8, [rows, 8, 64], new Uint8Array((rows * columns) / 2)),
        held(elementTypes.F32, [rows * 8], new Float32Array(rows * 8)),
      ],
      attributes: { K: int(columns), N: int(rows), bits: int(4), block_size: int(128) },
    }),
  );
  // The first reading includes the time in which the host compiles the loops.
  const times = [1, 2].map(() => {
    const started = processorTime();
    model.graph();
    return processorTime() - started;
  });
  expect(Math.min(...times)).toBeLessThan(1000);
});
