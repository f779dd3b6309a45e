import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import {
  elementTypes,
  f32,
  type Given,
  held,
  int,
  modelOf,
} from '../../../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../../model.ts';

test('Attention with a scale of 0 averages the values', async () => {
  const shape = [1, 1, 2, 1];
  const bytes = modelOf({
    ...{ op: 'Attention', opset: 24, attributes: { scale: { float: 0 } } },
    inputs: [shape, shape, shape],
  });
  const model = await fromOnnx(bytes);
  const x = Tensor.from([1, 3], shape);
  const { y0 } = await model.run(cpuEngine(), { x0: x, x1: x, x2: x });
  expect(Array.from(y0?.toFloat64() ?? [])).toEqual([2, 2]);
  model.release();
});

test.each<readonly [string, Given]>([
  ['bool', held(elementTypes.BOOL, [1, 3], Uint8Array.of(0, 1, 1))],
  ['float', f32([0, 0, 0], [1, 3])],
])('a window of Attention may be far from both corners: %s mask', async (_, mask) => {
  const [queries, key] = [
    [1, 1, 2, 1],
    [1, 1, 1, 1],
  ];
  const past = f32([10, 20], [1, 1, 2, 1]);
  const bytes = modelOf({
    ...{ op: 'Attention', opset: 25, inputs: [queries, key, key, mask, past, past] },
    attributes: { left_window_size: int(0), right_window_size: int(0) },
  });
  const model = await fromOnnx(bytes);
  const fresh = Tensor.from([30], key);
  const { y0 } = await model.run(cpuEngine(), { x0: Tensor.from([1, 1], queries), x1: fresh, x2: fresh });
  // The first query sees the third key only, and the second one a fourth key, which does not exist.
  expect(Array.from(y0?.toFloat64() ?? [])).toEqual([30, 0]);
  model.release();
});

/** GroupQueryAttention of one head with q, k and v in one tensor, and perhaps one more input. */
function grouped(attributes: Readonly<Record<string, OnnxAttribute>>, extra?: number): Uint8Array {
  const names = extra === undefined ? ['qkv'] : ['qkv', ...new Array<string>(extra - 1).fill(''), 'extra'];
  return encodeModel({
    ...{ name: 'gqa', opset: 17, initializers: [] },
    nodes: [
      {
        ...{ op: 'GroupQueryAttention', domain: 'com.microsoft', name: 'gqa', inputs: names, outputs: ['o'] },
        attributes: { num_heads: int(1), kv_num_heads: int(1), ...attributes },
      },
    ],
    inputs: [
      { name: 'qkv', type: 1, shape: [1, 2, 48] },
      { name: 'extra', type: 1, shape: [16] },
    ],
    outputs: [{ name: 'o', type: 1, shape: null }],
  });
}

test.each([
  ["the attribute 'causal' = 0", { causal: int(0) }],
  ["the attribute 'sliding_window_cache'", { sliding_window_cache: int(1) }],
  ['k_scale', {}, 12],
  ['q_norm_weight', {}, 14],
])('GroupQueryAttention with %s is refused', async (what, attributes, extra?: number) => {
  const model = await fromOnnx(grouped(attributes, extra));
  expect(() => model.graph()).toThrow(`has ${what}, which is not supported`);
});

test('RotaryEmbedding of more channels than its tables rotate is refused', async () => {
  const table = f32([0, 1], [1, 1, 2]);
  const bytes = modelOf({
    ...{ op: 'RotaryEmbedding', opset: 23, attributes: { rotary_embedding_dim: int(6) } },
    inputs: [[1, 1, 1, 8], table, table],
  });
  const model = await fromOnnx(bytes);
  expect(() => model.graph()).toThrow('has rotary_embedding_dim 6, but tables of 2 pairs');
});
