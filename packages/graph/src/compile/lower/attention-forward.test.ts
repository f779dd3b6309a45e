import type { Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { indexMask, type Step, scaled } from '../../../testing/attention/score-steps.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import { formatJson } from '../../formats/json/write.ts';
import { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

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

const softcapped: Step = (g, s) =>
  g.op('Multiply', [g.op('Tanh', [g.op('Divide', [s, g.scalar(2)])]), g.scalar(2)]);
/** The keys up to two positions before the query. */
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
    'with distances of indices, cast to f32 and times slopes (ALiBi)': [
      (g, s) => {
        const [row, column] = [2, 3].map(axis => g.op('GenIndex', [s], { axis }, 'i32'));
        const distance = g.op('TypeCast', [g.op('Subtract', [column, row], {}, 'i32')], {}, 'f32');
        return g.op('Add', [s, g.op('Multiply', [distance, g.input([H, 1, 1])])]);
      },
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

test('rows that see no key are 0, and so are their stats', async () => {
  const { graph, bindings } = attention((g, s) => {
    const rows = Array.from({ length: Sq * Skv }, (_, n) => (n < Skv ? 0 : 1));
    return g.op('Select', [g.input([Sq, Skv], { dtype: 'bool', values: rows }), s, g.scalar(-Infinity)]);
  });
  await expectSame(graph, bindings);
});

describe('operations that are not attention run one by one', () => {
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
