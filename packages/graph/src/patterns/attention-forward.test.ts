import { Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';
import { expectSame, kernelsOf } from '../../testing/expect-same.ts';
import { Graph } from '../graph/graph.ts';
import { formatJson } from '../json/write.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

type Step = (g: GraphBuilder, scores: LogicalTensor) => LogicalTensor;

/** q·kᵀ · steps · softmax · v. */
function attention(...steps: readonly Step[]): GraphBuilder {
  const g = new GraphBuilder();
  const q = g.input([B, H, Sq, D]);
  const k = g.input([B, H, Skv, D]);
  const v = g.input([B, H, Skv, Dv]);
  let scores = g.op('MatMul', [q, k], { transpose_b: true });
  for (const step of steps) scores = step(g, scores);
  const [p] = g.softmax(scores);
  g.op('MatMul', [p, v]);
  return g;
}

const scaled: Step = (g, s) => g.op('Multiply', [s, g.scalar(0.7)]);
const divided: Step = (g, s) => g.op('Divide', [s, g.scalar(3)]);
const biased =
  (...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Add', [g.input(shape), s]);
const mask = (g: GraphBuilder, shape: readonly number[]): LogicalTensor =>
  g.input(shape, {
    dtype: 'bool',
    values: Array.from({ length: shape.reduce((n, x) => n * x, 1) }, (_, n) => (n % 3 === 1 ? 0 : 1)),
  });
const selected =
  (fill: number, ...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Select', [mask(g, shape), s, g.scalar(fill)]);
const filled =
  (fill: number, ...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Select', [mask(g, shape), g.scalar(fill), s]);

/** GreaterEqual(row index + add − subtract, column index) as a mask. */
const indexMask =
  ({
    row = -2,
    column = -1,
    add,
    subtract,
    fill = -Infinity,
  }: {
    row?: number;
    column?: number;
    add?: number;
    subtract?: number;
    fill?: number;
  }): Step =>
  (g, s) => {
    let rows = g.op('GenIndex', [s], { axis: row }, 'i32');
    if (add !== undefined) rows = g.op('Add', [rows, g.scalar(add, 'i32')], {}, 'i32');
    if (subtract !== undefined) rows = g.op('Subtract', [rows, g.scalar(subtract, 'i32')], {}, 'i32');
    const columns = g.op('GenIndex', [s], { axis: column }, 'i32');
    const visible = g.op('GreaterEqual', [rows, columns], {}, 'bool');
    return g.op('Select', [visible, s, g.scalar(fill)]);
  };
const softcapped: Step = (g, s) =>
  g.op('Multiply', [g.op('Tanh', [g.op('Divide', [s, g.scalar(2)])]), g.scalar(2)]);
/** Keys at most two before the query. */
const slidingWindow: Step = (g, s) => {
  const rows = g.op('GenIndex', [s], { axis: 2 }, 'i32');
  const columns = g.op('GenIndex', [s], { axis: 3 }, 'i32');
  const near = g.op(
    'GreaterEqual',
    [g.op('Add', [columns, g.scalar(2, 'i32')], {}, 'i32'), rows],
    {},
    'bool',
  );
  return g.op('Select', [near, s, g.scalar(-Infinity)]);
};

describe('a graph of attention is one partition that runs as one call', () => {
  const cases: Record<string, readonly Step[]> = {
    plain: [],
    'scaled by multiplication': [scaled],
    'scaled by division': [divided],
    'scaled twice': [scaled, divided],
    'with a mask that is added, the score being the second operand': [scaled, biased(B, 1, Sq, Skv)],
    'with a mask of lower rank': [biased(Skv)],
    'with a padding mask': [divided, biased(B, 1, 1, Skv)],
    'with a scalar added': [(g, s) => g.op('Add', [s, g.scalar(0.5)])],
    'with two masks that are added': [biased(Sq, Skv), biased(H, 1, 1)],
    'selected where a mask holds': [scaled, selected(-Infinity, B, 1, Sq, Skv)],
    'selected where a mask does not hold (DistilBERT)': [divided, filled(-Infinity, B, 1, 1, Skv)],
    'selected, then scaled, then biased (GPT-J)': [
      selected(-Infinity, 1, 1, Sq, Skv),
      divided,
      biased(B, 1, 1, Skv),
    ],
    'biased, then selected': [biased(B, 1, 1, Skv), selected(-Infinity, 1, 1, Sq, Skv)],
    'selected twice': [selected(-Infinity, Sq, Skv), filled(-Infinity, B, 1, 1, Skv)],
    'selected with a finite fill': [scaled, selected(-2, B, 1, Sq, Skv)],
    'selected, then scaled by a negative number': [
      selected(-Infinity, B, H, Sq, Skv),
      (g, s) => g.op('Multiply', [s, g.scalar(-1e-3)]),
      selected(-Infinity, B, H, Sq, Skv),
    ],
    'causal from the top left': [scaled, indexMask({})],
    'causal with counted axes': [scaled, indexMask({ row: 2, column: 3 })],
    'causal from the bottom right': [scaled, indexMask({ add: Skv, subtract: Sq })],
    'causal from anywhere': [indexMask({ add: 3, subtract: 2 })],
    'causal with a finite fill': [indexMask({ fill: -1 })],
    'masked with the axes the other way round': [indexMask({ row: -1, column: -2 })],
    'masked by other axes': [indexMask({ row: 0, column: 1 })],
    'a sliding window': [scaled, indexMask({}), slidingWindow],
    'causal, biased and selected': [
      scaled,
      indexMask({}),
      biased(B, 1, Sq, Skv),
      selected(-Infinity, B, 1, 1, Skv),
    ],
    softcapped: [scaled, softcapped],
    'softcapped and selected (Gemma 2)': [scaled, softcapped, selected(-Infinity, 1, 1, Sq, Skv)],
    'biased before it is scaled': [biased(B, 1, 1, Skv), scaled],
    'a score times itself, and its sigmoid times itself': [
      (g, s) => g.op('Multiply', [s, s]),
      (g, s) => {
        const t = g.op('Sigmoid', [s]);
        return g.op('Maximum', [t, s]);
      },
    ],
    'with other functions of the score': [(g, s) => g.op('Maximum', [g.op('Sigmoid', [s]), g.scalar(0.3)])],
  };
  test.each(Object.entries(cases))('%s', async (_, steps) => {
    const { graph, bindings } = attention(...steps);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['sdpa-training attention']);
  });
});

test('rows that see nothing are 0, and so are their stats', async () => {
  const { graph, bindings } = attention((g, s) => {
    const rows = Array.from({ length: Sq * Skv }, (_, n) => (n < Skv ? 0 : 1));
    return g.op('Select', [g.input([Sq, Skv], { dtype: 'bool', values: rows }), s, g.scalar(-Infinity)]);
  });
  await expectSame(graph, bindings);
});

describe('heads', () => {
  test('five dimensions share keys among groups', async () => {
    const g = new GraphBuilder();
    const q = g.input([B, 2, 3, Sq, D]);
    const k = g.input([B, 2, 1, Skv, D]);
    const v = g.input([B, 2, 1, Skv, Dv]);
    const s = indexMask({})(
      g,
      g.op('Add', [g.op('MatMul', [q, k], { transpose_b: true }), g.input([B, 1, 3, 1, Skv])]),
    );
    g.op('MatMul', [g.softmax(s)[0], v]);
    expect((await expectSame(g.graph, g.bindings)).map(p => p.kind)).toEqual(['sdpa-training']);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

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

  test('one head for all, three dimensions, and two', async () => {
    for (const [q, k] of [
      [
        [B, H, Sq, D],
        [B, 1, Skv, D],
      ],
      [
        [B, H, Sq, D],
        [1, 1, Skv, D],
      ],
      [
        [B, Sq, D],
        [B, Skv, D],
      ],
      [
        [Sq, D],
        [Skv, D],
      ],
    ]) {
      const g = new GraphBuilder();
      const keys = g.input(k);
      const s = g.op('MatMul', [g.input(q), keys], { transpose_b: true });
      g.op('MatMul', [g.softmax(s)[0], g.input([...k.slice(0, -1), Dv])]);
      await expectSame(g.graph, g.bindings);
      expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    }
  });

  test('transposed products (JAX)', async () => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, D, Skv])]);
    const p = g.op('Reorder', [
      g.op('StaticTranspose', [g.op('SoftMax', [s], { axis: 3 })], { order: [0, 1, 3, 2] }),
    ]);
    g.op('StaticTranspose', [g.op('MatMul', [g.input([B, H, Dv, Skv]), p])], { order: [0, 3, 1, 2] });
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa attention']);
  });
});

describe('dropout', () => {
  const dropped = (drop: (g: GraphBuilder, p: LogicalTensor) => LogicalTensor): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    g.op('MatMul', [drop(g, g.softmax(s)[0]), g.input([B, H, Skv, Dv])]);
    return g;
  };
  const stream = (g: GraphBuilder): LogicalTensor[] => [g.scalar(123456n, 'i64'), g.scalar(1n, 'i64')];

  test.each([0, 0.25, 1])('as an operation with p = %d', async p => {
    const g = dropped((g, x) => g.op('Dropout', [x, ...stream(g), g.scalar(p)]));
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

  test('with p as an attribute', async () => {
    const g = dropped((g, x) => g.op('Dropout', [x, ...stream(g)], { p: 0.5 }));
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });

  test('written as RNG and two products, with any factor', async () => {
    const g = dropped((g, x) => {
      const keep = g.op('RNG', [x, ...stream(g)], { p: 0.25 });
      return g.op('Multiply', [g.op('Multiply', [x, keep]), g.scalar(1.1)]);
    });
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
  });
});

test('a softmax that is written out is one', async () => {
  const g = new GraphBuilder();
  const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
  const reduce = { axes: [-1], keep_dims: true };
  const max = g.op('ReduceMax', [s], reduce);
  const e = g.op('Exp', [g.op('Subtract', [s, max])]);
  const sum = g.op('ReduceSum', [e], reduce);
  g.op('Add', [g.op('Log', [sum]), max]);
  g.op('MatMul', [g.op('Divide', [e, sum]), g.input([B, H, Skv, Dv])]);
  await expectSame(g.graph, g.bindings);
  expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
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

describe('probabilities in 8 bits', () => {
  const rounded = (
    dtype: 'u8' | 'i8' | 'f8e4m3' | 'f8e5m2',
    to: Record<string, number | string | readonly number[]>,
    back = to,
    drop = false,
  ): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    let p = g.softmax(scaled(g, s))[0];
    if (drop) p = g.op('Dropout', [p, g.scalar(5n, 'i64'), g.scalar(1n, 'i64')], { p: 0.25 });
    p = g.op('Dequantize', [g.op('Quantize', [p], to, dtype)], back);
    g.op('Quantize', [g.op('MatMul', [p, g.input([B, H, Skv, Dv])])], { scales: [0.02] }, 'i8');
    return g;
  };

  test.each([
    ['u8', { scales: [1 / 255] }],
    ['u8', { scales: [1 / 128], zps: [7] }],
    ['i8', { scales: [1 / 256], zps: [-128] }],
    ['f8e4m3', { scales: [1 / 448] }],
    ['f8e5m2', { scales: [1] }],
  ] as const)('%s, %j', async (dtype, attrs) => {
    const { graph, bindings } = rounded(dtype, attrs);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test('are rounded behind dropout, and may have another scale on the way back', async () => {
    const { graph, bindings } = rounded('u8', { scales: [1 / 64] }, { scales: [1 / 63] }, true);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test.each([
    [
      { scales: [0.1], zps: [3] },
      { scales: [0.1], zps: [4] },
    ],
    [
      { scales: [0.1], zps: [300] },
      { scales: [0.1], zps: [300] },
    ],
    [{ scales: [-0.1] }, { scales: [-0.1] }],
    [
      { scales: [0.1, 0.2, 0.3], qtype: 'per_channel', axis: 1 },
      { scales: [0.1, 0.2, 0.3], qtype: 'per_channel', axis: 1 },
    ],
  ])('that no call rounds so: %j, back %j', async (to, back) => {
    const { graph, bindings } = rounded('u8', to, back);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa operations']);
  });
});

describe('probabilities that are multiplied before they are rounded, their largest being a result', () => {
  const by1 = { scales: [1] };
  /** @param factor what they are multiplied by. */
  const multiplied = (
    factor: readonly number[],
    to: { scales: number[] },
    axes: readonly number[],
  ): GraphBuilder => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    const p = g.softmax(scaled(g, s))[0];
    const values = Array.from({ length: factor.reduce((n, x) => n * x, 1) }, (_, n) => 448 - n);
    const times = g.op('Multiply', [g.input(factor, { values }), p]);
    g.op('ReduceMax', [p], { axes, keep_dims: true });
    const back = g.op('Dequantize', [g.op('Quantize', [times], to, 'f8e4m3')], by1);
    g.op('MatMul', [back, g.input([B, H, Skv, Dv])]);
    return g;
  };

  test('are one call', async () => {
    const { graph, bindings } = multiplied([1, 1, 1, 1], by1, [0, 1, 2, 3]);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa attention']);
  });

  test.each([
    ['by a number for each key', [Skv], by1, [0, 1, 2, 3]],
    ['and divided', [1], { scales: [0.5] }, [0, 1, 2, 3]],
    ['and the largest of each row is taken', [1], by1, [-1]],
  ] as const)('are none %s', async (_, factor, { scales }, axes) => {
    const { graph, bindings } = multiplied(factor, { scales: [...scales] }, axes);
    await expectSame(graph, bindings);
    expect(kernelsOf(graph, bindings)).toEqual(['quantized-sdpa operations']);
  });
});

describe('what is no attention runs as its operations', () => {
  test('a softmax along the queries', async () => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Sq, D])], { transpose_b: true });
    g.op('MatMul', [g.op('SoftMax', [s], { axis: 2 }), g.input([B, H, Sq, Dv])]);
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa operations']);
  });

  test('probabilities that are a result', async () => {
    const g = new GraphBuilder();
    const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
    const p = g.op('SoftMax', [s], { axis: -1 });
    g.graph.op('End', { inputs: [p], outputs: [] });
    g.op('MatMul', [p, g.input([B, H, Skv, Dv])]);
    const partitions = await expectSame(g.graph, g.bindings);
    expect(partitions.some(partition => partition.kind.startsWith('sdpa'))).toBe(false);
  });

  test('factors of the scores whose product is infinite in f32', async () => {
    const factor: Step = (g, scores) => g.op('Multiply', [scores, g.scalar(2e19)]);
    const g = attention(factor, factor);
    for (const t of Object.values(g.bindings).slice(0, 2) as Tensor[]) {
      t.data.set(Float32Array.from(t.toFloat32(), x => x * 1e-19));
    }
    await expectSame(g.graph.finalize(), g.bindings, 1e-5);
  });

  test('a bias that makes the scores larger', async () => {
    const g = new GraphBuilder();
    const s = g.op('Add', [
      g.op('MatMul', [g.input([1, H, Sq, D]), g.input([1, H, Skv, D])], { transpose_b: true }),
      g.input([B, H, Sq, Skv]),
    ]);
    g.op('MatMul', [g.softmax(s)[0], g.input([1, H, Skv, Dv])]);
    await expectSame(g.graph, g.bindings);
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training operations']);
  });
});

test('numbers that are constants of the graph belong to the partition, and say which options they are', async () => {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([1, 2, 6, 4]));
  const number = (value: number, dtype: 'f32' | 'i32' = 'f32') =>
    b.op('Constant', [], { value: [value] }, dtype);
  const scores = b.op('Multiply', [b.op('MatMul', [q, k], { transpose_b: true }), number(0.5)]);
  const [row, column] = [2, 3].map(axis => b.op('GenIndex', [scores], { axis }, 'i32'));
  const below = b.op('GreaterEqual', [b.op('Add', [row, number(1, 'i32')], {}, 'i32'), column], {}, 'bool');
  const masked = b.op('Select', [below, scores, number(-Infinity)]);
  b.op('MatMul', [b.softmax(masked)[0], v]);
  expect((await expectSame(b.graph, b.bindings)).map(partition => partition.kind)).toEqual(['sdpa-training']);
  expect(kernelsOf(b.graph, b.bindings)).toEqual(['sdpa-training attention']);
  const again = Graph.fromJSON(formatJson(b.graph));
  expect(again.nodes.map(node => node.attributes)).toEqual(b.graph.nodes.map(node => node.attributes));
});
