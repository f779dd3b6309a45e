import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';
import { expectSame } from '../../testing/expect-same.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { gradients } from './gradients.ts';

/** Checks gradients by difference quotients of Σ seed·of, and gives the partitions of the backward graph. */
async function checkGradients(
  g: GraphBuilder,
  of: LogicalTensor,
  wanted: readonly LogicalTensor[],
): Promise<string[]> {
  const { graph, bindings } = g;
  graph.finalize();
  const backward = gradients(graph, { of, withRespectTo: wanted }).finalize();
  const results = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  const seed = backward.seeds.get(of.id);
  if (!seed) throw new Error('no seed');
  const dy = Tensor.from(
    Array.from({ length: results[of.id].size }, (_, n) => Math.cos(n * n + 1)),
    results[of.id].shape,
  );
  const needed = new Set(backward.inputs.map(t => t.id));
  const all: Record<number, Tensor | number | bigint> = { ...bindings, ...results, [seed.id]: dy };
  const own = Object.fromEntries(Object.entries(all).filter(([id]) => needed.has(Number(id))));
  const partitions = await expectSame(backward, own, 4e-6);

  const got = await backward.run(referenceEngine(), own);
  const loss = async (changed: Record<number, Tensor>): Promise<number> => {
    const y = (await graph.run(referenceEngine(), { ...bindings, ...changed }, { policy: 'debug' }))[
      of.id
    ].toFloat64();
    return y.reduce((sum, x, n) => sum + x * dy.toFloat64()[n], 0);
  };
  for (const t of wanted) {
    const gradient = got[backward.gradients.get(t.id)?.id ?? -1];
    const value = bindings[t.id] as Tensor;
    expect(gradient.shape).toEqual(value.shape);
    for (const at of [0, Math.floor(value.size / 2), value.size - 1]) {
      const h = 1e-2;
      const moved = (by: number) => ({
        [t.id]: Tensor.from(
          value.toFloat64().map((x, n) => (n === at ? x + by : x)),
          value.shape,
        ),
      });
      const slope = ((await loss(moved(h))) - (await loss(moved(-h)))) / (2 * h);
      expect(gradient.toFloat64()[at], `element ${at} of the gradient by tensor ${t.id}`).toBeCloseTo(
        slope,
        2,
      );
    }
  }
  return partitions.map(partition => partition.kind);
}

describe('attention has one backward partition', () => {
  const [B, H, Sq, Skv, D] = [2, 2, 4, 5, 3];
  type Step = (g: GraphBuilder, s: LogicalTensor) => LogicalTensor;
  const causal =
    (fill: number): Step =>
    (g, s) => {
      const row = g.op('GenIndex', [s], { axis: -2 }, 'i32');
      const visible = g.op('GreaterEqual', [row, g.op('GenIndex', [s], { axis: -1 }, 'i32')], {}, 'bool');
      return g.op('Select', [visible, s, g.scalar(fill)]);
    };
  const cases: Record<string, readonly Step[]> = {
    plain: [],
    scaled: [(g, s) => g.op('Multiply', [s, g.scalar(0.6)])],
    'divided and biased': [
      (g, s) => g.op('Divide', [s, g.scalar(2)]),
      (g, s) => g.op('Add', [s, g.input([B, 1, 1, Skv])]),
    ],
    causal: [causal(-Infinity)],
    'selected with a finite fill': [causal(-1)],
  };
  test.each(Object.entries(cases))('%s', async (_, steps) => {
    const g = new GraphBuilder();
    const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, H, Skv, D]), g.input([B, H, Skv, D])];
    let s = g.op('MatMul', [q, k], { transpose_b: true });
    for (const step of steps) s = step(g, s);
    const o = g.op('MatMul', [g.softmax(s)[0], v]);
    expect(await checkGradients(g, o, [q, k, v])).toEqual(['sdpa-backward']);
  });

  test('with dropout', async () => {
    const g = new GraphBuilder();
    const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, H, Skv, D]), g.input([B, H, Skv, D])];
    const p = g.softmax(g.op('MatMul', [q, k], { transpose_b: true }))[0];
    const dropped = g.op('Dropout', [p, g.scalar(5n, 'i64'), g.scalar(1n, 'i64'), g.scalar(0.25)]);
    expect(await checkGradients(g, g.op('MatMul', [dropped, v]), [q, k, v])).toEqual(['sdpa-backward']);
  });

  test('with keys that are stored transposed, by groups or not', async () => {
    for (const shared of [H, 1]) {
      const g = new GraphBuilder();
      const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, shared, D, Skv]), g.input([B, shared, Skv, D])];
      const p = g.softmax(g.op('MatMul', [q, k]))[0];
      expect(await checkGradients(g, g.op('MatMul', [p, v]), [q, k, v])).toEqual(['sdpa-backward']);
    }
  });

  test('with groups of heads', async () => {
    const g = new GraphBuilder();
    const [q, k, v] = [g.input([B, H, 3, Sq, D]), g.input([B, H, 1, Skv, D]), g.input([B, H, 1, Skv, D])];
    const p = g.softmax(g.op('MatMul', [q, k], { transpose_b: true }))[0];
    expect(await checkGradients(g, g.op('MatMul', [p, v]), [q, k, v])).toEqual(['sdpa-backward']);
  });
});

describe('gradients of other operations', () => {
  test('products transposed and broadcast, sums, differences, quotients, layouts', async () => {
    const g = new GraphBuilder();
    const [a, b, c] = [g.input([2, 3, 4]), g.input([4, 3]), g.input([3])];
    const y = g.op('MatMul', [a, b], { transpose_a: true, transpose_b: true });
    const moved = g.op('StaticTranspose', [y], { order: [1, 2, 0] });
    const flat = g.op('StaticReshape', [moved], { shape: [8, 4], special_zero: false });
    const d = g.input([8, 1]);
    const e = g.op('Divide', [
      g.op('Subtract', [flat, d]),
      g.op('Add', [g.op('Square', [d]), g.input([], { values: [2] })]),
    ]);
    const product = g.op('Multiply', [
      g.op('StaticReshape', [g.op('MatMul', [a, b], { transpose_a: true, transpose_b: true })], {
        shape: [8, 4],
        special_zero: false,
      }),
      e,
    ]);
    await checkGradients(g, product, [a, b, d]);
    expect(c.shape).toEqual([3]);
  });

  test.each(['Tanh', 'Exp', 'Sigmoid', 'GELU', 'SiLU', 'Mish', 'Square', 'SoftPlus'])('%s', async kind => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    await checkGradients(g, g.op(kind, [x]), [x]);
  });

  test('softmax, and its logarithm, without stats', async () => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    const y = g.op('Multiply', [g.op('SoftMax', [x], { axis: -1 }), g.op('LogSoftmax', [x], { axis: 0 })]);
    await checkGradients(g, y, [x]);
  });
});

describe('gradients of what is around attention', () => {
  test.each([true, false])('reductions, keeping their dimensions: %s', async keep_dims => {
    const g = new GraphBuilder();
    const x = g.input([3, 4, 2]);
    const sum = g.op('ReduceSum', [g.op('Square', [x])], { axes: [1], keep_dims });
    const mean = g.op('ReduceMean', [g.op('Tanh', [x])], { axes: [-2], keep_dims });
    await checkGradients(g, g.op('Multiply', [sum, mean]), [x]);
  });

  test('LayerNorm and RMSNorm', async () => {
    for (const kind of ['LayerNorm', 'RMSNorm']) {
      const g = new GraphBuilder();
      const [x, gamma, beta] = [g.input([3, 5]), g.input([5]), g.input([5])];
      const affine = kind === 'LayerNorm' ? [gamma, beta] : [gamma];
      await checkGradients(g, g.op(kind, [x, ...affine], { epsilon: 0.1 }), [x, ...affine]);
    }
  });

  test('an embedding, its rows taken twice', async () => {
    const g = new GraphBuilder();
    const table = g.input([4, 3]);
    const ids = g.input([2, 3], { dtype: 'i32', values: [3, 0, 3, 1, 3, 0] });
    await checkGradients(g, g.op('Square', [g.op('Gather', [table, ids])]), [table]);
  });

  test('cross-entropy', async () => {
    const g = new GraphBuilder();
    const logits = g.input([2, 3, 4]);
    const labels = g.input([2, 3], { dtype: 'i32', values: [0, 1, 2, 3, 0, 1] });
    await checkGradients(g, g.op('CrossEntropy', [logits, labels]), [logits]);
  });
});

test('what is needed twice is computed once', () => {
  const g = new GraphBuilder();
  const x = g.input([3]);
  const y = g.op('Exp', [g.op('Tanh', [x])]);
  g.graph.finalize();
  const backward = gradients(g.graph, { of: y, withRespectTo: [x] }).finalize();
  expect(backward.nodes.filter(node => node.kind === 'Tanh').length).toBe(1);
});

test('what has no gradient, or does not depend, is said', () => {
  const g = new GraphBuilder();
  const [x, other] = [g.input([3]), g.input([3])];
  const y = g.op('ReduceMax', [g.op('Add', [x, x])], { axes: [0] });
  g.op('Exp', [other]);
  g.graph.finalize();
  expect(() => gradients(g.graph, { of: y, withRespectTo: [x] })).toThrow(/ReduceMax 1 has no gradient/);
  expect(() => gradients(g.graph, { of: y, withRespectTo: [other] })).toThrow(
    /which nothing of 'of' depends on/,
  );
});
