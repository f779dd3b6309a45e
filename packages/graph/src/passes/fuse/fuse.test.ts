import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

test('reshapes and transposes around attention belong to it', async () => {
  const g = new GraphBuilder();
  const heads = (S: number, n: number, width: number) =>
    g.op(
      'StaticTranspose',
      [
        g.op('StaticReshape', [g.input([B, S, n * width])], {
          shape: [B, S, n, width],
          special_zero: false,
        }),
      ],
      {
        order: [0, 2, 1, 3],
      },
    );
  const s = g.op('MatMul', [heads(Sq, H, D), heads(Skv, H, D)], { transpose_b: true });
  const o = g.op('MatMul', [g.softmax(s)[0], heads(Skv, H, Dv)]);
  g.op('StaticReshape', [g.op('StaticTranspose', [o], { order: [0, 2, 1, 3] })], {
    shape: [B, Sq, -1],
    special_zero: false,
  });
  const partitions = await expectSame(g.graph, g.bindings);
  expect(partitions.map(p => p.ops.length)).toEqual([g.graph.nodes.length]);
});

test('keys and values may be stored in 8 or 4 bits, by groups', async () => {
  const g = new GraphBuilder();
  const quantized = (shape: readonly number[], group: readonly number[], dtype: 'i8' | 'u4') => {
    const count = shape.reduce((n, x) => n * x, 1);
    const data = g.graph.tensor({ dtype, shape });
    g.bindings[data.id] = Tensor.from(
      Array.from({ length: count }, (_, n) => (n * 5) % 11),
      shape,
      { dtype: dtype === 'i8' ? 'i8' : 'u8' },
    );
    const scales = g.input(shape.map((n, d) => n / group[d]));
    return g.op('DynamicDequantize', [data, scales], { qtype: 'per_group', group_shape: group, axis: 3 });
  };
  const s = g.op('MatMul', [g.input([B, H, Sq, 8]), quantized([B, H, 8, 6], [1, 1, 4, 1], 'i8')]);
  g.op('MatMul', [g.softmax(s)[0], quantized([B, H, 6, 8], [1, 1, 1, 8], 'u4')]);
  await expectSame(g.graph, g.bindings);
  expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
});
