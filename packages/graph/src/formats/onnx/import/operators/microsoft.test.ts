import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { runOnnx } from '../../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../model.ts';

/** A com.microsoft node whose inputs are inputs of the model; null stands for an omitted input. */
interface Case {
  readonly op: string;
  readonly inputs: readonly (Tensor | null)[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly outputs?: number;
  /** The inputs that are 64-bit integers. */
  readonly int64?: readonly string[];
  /** The element types of the outputs. Default: f32. */
  readonly types?: readonly number[];
}

/** ONNX's numbers of the element types of inputs. */
const numbers: Readonly<Record<string, number>> = { f32: 1, u8: 2, i8: 3, i32: 6 };

const int = (value: number): OnnxAttribute => ({ int: value });

function draw(...shape: readonly number[]): Tensor {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const values = Float32Array.from({ length: count }, (_, n) => 1.5 * Math.sin(1.3 * n * n + shape.length));
  return Tensor.from(values, shape);
}

const integers = (...list: readonly number[]): Tensor => Tensor.from(list, [list.length], { dtype: 'i32' });

function modelOf({ op, inputs, attributes = {}, outputs = 1, types = [], int64 = [] }: Case): Uint8Array {
  const names = inputs.map((tensor, n) => (tensor ? `x${n}` : ''));
  const results = Array.from({ length: outputs }, (_, n) => `y${n}`);
  return encodeModel({
    ...{ name: op, opset: 17, initializers: [] },
    nodes: [{ op, domain: 'com.microsoft', name: op, inputs: names, outputs: results, attributes }],
    inputs: inputs.flatMap((tensor, n) =>
      tensor
        ? [
            {
              name: `x${n}`,
              type: int64.includes(`x${n}`) ? 7 : (numbers[tensor.dtype] ?? 1),
              shape: tensor.shape,
            },
          ]
        : [],
    ),
    outputs: results.map((name, n) => ({ name, type: types[n] ?? 1, shape: null })),
  });
}

const feedsOf = ({ inputs }: Case): Record<string, Tensor> =>
  Object.fromEntries(inputs.flatMap((tensor, n) => (tensor ? [[`x${n}`, tensor] as const] : [])));

const [B, H, D] = [2, 2, 4];
const cache = draw(B, H, 4, D);
const grid = (dtype: 'i32' | 'u8' | 'i8', shape: readonly number[], ...list: readonly number[]): Tensor =>
  Tensor.from(list, shape, { dtype });
/** Bytes that follow no pattern. */
const bytes = (dtype: 'u8' | 'i8', ...shape: readonly number[]): Tensor => {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const low = dtype === 'i8' ? 128 : 0;
  return grid(dtype, shape, ...Array.from({ length: count }, (_, n) => ((37 * n * n + 11) % 256) - low));
};
/** The input, the weight and the bias of attention with one product for q, k and v. */
const projected = (S: number, width = 3 * H * D): Tensor[] => [draw(B, S, 6), draw(6, width), draw(width)];
/** The inputs of grouped attention of one token after 4 cached tokens. */
const grouped = (...more: readonly (Tensor | null)[]): (Tensor | null)[] => [
  ...Array.from({ length: 3 }, () => draw(B, 1, H * 16)),
  ...[draw(B, H, 4, 16), draw(B, H, 4, 16), integers(4, 4), integers(5), ...more],
];
const groups = { num_heads: int(H), kv_num_heads: int(H) };
/** Queries, keys and values of `tokens` tokens. */
const tokens = (Sq: number, Skv = Sq): Tensor[] => [Sq, Skv, Skv].map(S => draw(B, S, H * D));
const causal = { num_heads: int(H), unidirectional: int(1) };

describe('is as in onnxruntime:', () => {
  const cases: Readonly<Record<string, Case>> = {
    'causal attention with a cache and lengths of the keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal, outputs: 3 },
      inputs: [...tokens(3), null, integers(7, 5), null, cache, cache],
    },
    'causal attention of one query that is given all keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal },
      inputs: tokens(1, 5),
    },
    'attention of some keys by a mask of numbers': {
      ...{ op: 'MultiHeadAttention', attributes: { num_heads: int(H), mask_filter_value: { float: -5 } } },
      inputs: [...tokens(2, 3), null, grid('i32', [B, 3], 1, 1, 0, 0, 1, 1)],
    },
    'attention with a mask of each query, and a bias': {
      ...{ op: 'MultiHeadAttention', attributes: { num_heads: int(H) } },
      inputs: [...tokens(2), null, grid('i32', [B, 2, 2], 1, 0, 1, 1, 0, 1, 1, 1), draw(1, H, 2, 2)],
    },
    'attention with one product for q, k and v, and a bias': {
      ...{ op: 'Attention', attributes: { num_heads: int(H) } },
      inputs: [...projected(3), null, null, draw(1, H, 3, 3)],
    },
    'causal attention with one product, a mask and a cache': {
      ...{ op: 'Attention', attributes: causal, outputs: 2 },
      inputs: [...projected(2), grid('i32', [B, 5], 0, 1, 1, 1, 1, 1, 1, 1, 1, 0), draw(2, B, H, 3, D)],
    },
    'causal attention with one product, whose first keys are hidden': {
      ...{ op: 'Attention', attributes: causal },
      inputs: [...projected(3), grid('i32', [B, 3], 0, 0, 1, 1, 1, 1)],
    },
    'attention with one product of the keys from a start to an end': {
      ...{ op: 'Attention', attributes: { num_heads: int(H), mask_filter_value: { float: -5 } } },
      inputs: [...projected(4), integers(4, 3, 2, 0)],
    },
    'attention with one product of the keys from a start to an end beyond them': {
      ...{ op: 'Attention', attributes: causal },
      inputs: [...projected(3), integers(9, 2, 3, 1)],
    },
    'attention with one product and lengths, and values of their own size': {
      ...{ op: 'Attention', outputs: 1 },
      attributes: { num_heads: int(H), qkv_hidden_sizes: { ints: [8, 8, 12] }, scale: { float: 0.3 } },
      inputs: [...projected(3, 28), integers(3, 2)],
    },
    'grouped attention with a bias': {
      ...{ op: 'GroupQueryAttention', outputs: 3, attributes: groups },
      inputs: grouped(null, null, null, draw(1, H, 1, 5)),
    },
    'grouped attention with a sink for each head': {
      ...{ op: 'GroupQueryAttention', outputs: 3, attributes: groups },
      inputs: grouped(null, null, null, null, draw(H)),
    },
    'grouped attention with a smooth softmax': {
      ...{ op: 'GroupQueryAttention', outputs: 3, attributes: { ...groups, smooth_softmax: int(1) } },
      inputs: grouped(),
    },
    'grouped attention that is rotated by given positions': {
      ...{ op: 'GroupQueryAttention', outputs: 3, attributes: { ...groups, do_rotary: int(1) } },
      inputs: grouped(draw(16, 8), draw(16, 8), grid('i32', [B, 1], 7, 2)),
      int64: ['x9'],
    },
    'the norm of three embeddings, and the lengths of a mask': {
      ...{ op: 'EmbedLayerNormalization', outputs: 3, types: [1, 6, 1] },
      inputs: [
        ...[grid('i32', [B, 3], 4, 0, 2, 1, 1, 3), grid('i32', [B, 3], 0, 0, 1, 1, 1, 0)],
        ...[draw(5, 8), draw(4, 8), draw(2, 8), draw(8), draw(8)],
        grid('i32', [B, 3], 1, 1, 0, 1, 1, 1),
      ],
    },
    'the norm of two embeddings at given positions': {
      ...{ op: 'EmbedLayerNormalization', outputs: 2, types: [1, 6] },
      inputs: [
        ...[grid('i32', [B, 3], 4, 0, 2, 1, 1, 3), null],
        ...[draw(5, 8), draw(4, 8), null, draw(8), draw(8), null],
        grid('i32', [B, 3], 1, 2, 3, 0, 0, 1),
      ],
    },
    'the product with quantized weights, whose other factor is quantized on the fly': {
      ...{ op: 'DynamicQuantizeMatMul' },
      inputs: [draw(2, 3, 5), bytes('i8', 5, 4), draw(4), bytes('i8', 4), draw(4)],
    },
    'the product of bytes as floats': {
      ...{ op: 'MatMulIntegerToFloat' },
      inputs: [
        ...[bytes('u8', 2, 3, 5), bytes('u8', 5, 4), draw(1), draw(1)],
        ...[grid('u8', [1], 7), grid('u8', [1], 128), draw(4)],
      ],
    },
    'a product whose factors have their rows first': {
      ...{
        op: 'FusedMatMul',
        attributes: { transBatchA: int(1), transBatchB: int(1), alpha: { float: 0.5 } },
      },
      inputs: [draw(3, 2, 4), draw(4, 2, 5)],
    },
    'a product whose factors have their rows first, and are then transposed': {
      ...{ op: 'FusedMatMul' },
      attributes: { transBatchA: int(1), transA: int(1), transBatchB: int(1), transB: int(1) },
      inputs: [draw(4, 2, 2, 3), draw(5, 2, 2, 4)],
    },
    'a row that a product would turn, were it a matrix': {
      ...{ op: 'FusedMatMul', attributes: { transA: int(1), transB: int(1) } },
      inputs: [draw(4), draw(3, 4)],
    },
  };
  test.each(Object.entries(cases))('%s', async (_, one) => {
    const [bytes, feeds] = [modelOf(one), feedsOf(one)];
    const expected = await runOnnx(bytes, feeds, one);
    const model = await fromOnnx(bytes);
    const results = await model.run(cpuEngine(), feeds);
    for (const [name, wanted] of Object.entries(expected)) {
      const got = results[name] as Tensor;
      expect(got.shape).toEqual([...wanted.shape]);
      const values = got.toFloat64();
      wanted.toFloat64().forEach((x, n) => {
        expect(values[n], `${name}[${n}]`).toBeCloseTo(x, 4);
      });
    }
    model.release();
  });
});

describe('is refused:', () => {
  const cases: Readonly<Record<string, Case>> = {
    'which keys several causal queries see of another number of keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal },
      inputs: tokens(3, 5),
    },
    'the scores of attention as an output': {
      ...{ op: 'MultiHeadAttention', attributes: { num_heads: int(H) }, outputs: 4 },
      inputs: tokens(3),
    },
  };
  test.each(Object.entries(cases))('%s', async (_, one) => {
    const model = await fromOnnx(modelOf(one));
    const shapes = Object.fromEntries(
      Object.entries(feedsOf(one)).map(([name, { shape }]) => [name, [...shape]]),
    );
    expect(() => model.graph({ shapes })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining(one.op) }),
    );
  });
});
