import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../../../testing/attention/attention-graph.ts';
import { expectSameInOnnx, hasNode } from '../../../../../testing/compare/expect-same-in-onnx.ts';
import { sdpa } from '../../../../frontends/cudnn/index.ts';
import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { toOnnx } from '../../index.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 4, 5, 7, 8, 6];
interface Shape {
  readonly heads?: number;
  readonly queries?: number;
  readonly dtype?: 'f32' | 'f16';
  readonly transposed?: boolean;
  readonly decomposed?: boolean;
}
type Step = (g: GraphBuilder, scores: LogicalTensor) => LogicalTensor;
const constant = (g: GraphBuilder, value: number): LogicalTensor => g.op('Constant', [], { value: [value] });
const scale: Step = (g, s) => g.op('Multiply', [s, constant(g, 0.4)]);
const runtimeScale: Step = (g, s) => g.op('Divide', [s, g.scalar(2.5)]);
const softcap: Step = (g, s) =>
  g.op('Multiply', [g.op('Tanh', [g.op('Divide', [s, constant(g, 2)])]), constant(g, 2)]);
const bias: Step = (g, s) => g.op('Add', [s, g.input([B, 1, Sq, Skv])]);
const select: Step = (g, s) => {
  const values = Array.from({ length: Sq * Skv }, (_, n) => (n * n) % 5 > 1 && n >= Skv);
  return g.op('Select', [
    g.input([Sq, Skv], { dtype: 'bool', values: values.map(Number) }),
    s,
    constant(g, -Infinity),
  ]);
};
const diagonal =
  (offset: number): Step =>
  (g, s) => {
    const [row, column] = [2, 3].map(axis => g.op('GenIndex', [s], { axis }, 'i32'));
    const at =
      offset === 0 ? row : g.op('Add', [row, g.op('Constant', [], { value: [offset] }, 'i32')], {}, 'i32');
    return g.op('Select', [g.op('GreaterEqual', [at, column], {}, 'bool'), s, constant(g, -Infinity)]);
  };

function attention(
  steps: readonly Step[],
  { heads = H, queries = Sq, dtype = 'f32', transposed, decomposed }: Shape = {},
): GraphBuilder {
  const g = new GraphBuilder();
  const q = g.input([B, H, queries, D], { dtype });
  const k = g.input(transposed ? [B, heads, D, Skv] : [B, heads, Skv, D], { dtype });
  const v = g.input(transposed ? [B, heads, Dv, Skv] : [B, heads, Skv, Dv], { dtype });
  let scores = g.op('MatMul', [q, k], { transpose_b: !transposed });
  for (const step of steps) scores = step(g, scores);
  const p = decomposed
    ? softmaxOf(g, scores)
    : g.op('SoftMax', [scores], { axis: -1, mode: 'inf_as_zero' }, dtype);
  g.op('MatMul', [p, v], { transpose_b: transposed ?? false }, dtype);
  return g;
}

function softmaxOf(g: GraphBuilder, scores: LogicalTensor): LogicalTensor {
  const over = { axes: [-1], keep_dims: true };
  const e = g.op('Exp', [g.op('Subtract', [scores, g.op('ReduceMax', [scores], over)])]);
  return g.op('Divide', [e, g.op('ReduceSum', [e], over)]);
}

const fitting: Readonly<Record<string, GraphBuilder>> = {
  plain: attention([]),
  'one head of keys for all': attention([scale], { heads: 1 }),
  'keys and values the other way round': attention([scale], { transposed: true }),
  'softmax written out': attention([scale], { decomposed: true }),
  'a scale that is not known before': attention([runtimeScale, bias]),
  softcap: attention([scale, softcap, bias]),
  'a mask to select, with a row that sees nothing': attention([scale, select]),
  'a mask to add and one to select': attention([scale, bias, select]),
  'a bias that is broadcast along the keys': attention([(g, s) => g.op('Add', [s, g.input([Sq, 1])])]),
  'a bias that is broadcast along the queries': attention([
    (g, s) => g.op('Add', [s, g.input([B, H, 1, Skv])]),
  ]),
  'a causal mask': attention([scale, diagonal(0)]),
  'a causal mask and a bias': attention([scale, bias, diagonal(0)]),
};

test.each(Object.entries(fitting))('%s is Attention', async (_, g) => {
  g.graph.finalize();
  expect(hasNode(g.graph, 'Attention')).toBe(true);
  expect(hasNode(g.graph, 'Softmax')).toBe(false);
  await expectSameInOnnx(g);
});

test.each(['no mask', 'a mask'])('groups of heads that are a dimension, %s', async masked => {
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, 2, Skv, D]), g.input([B, 2, Skv, Dv])];
  const bias = masked === 'a mask' ? { bias: g.input([H, 1, Skv]) } : {};
  sdpa(g.graph, { q, k, v, ...bias, implementation: 'composite', attnScale: 0.4, diagonalBandRightBound: 0 });
  g.graph.finalize();
  expect(hasNode(g.graph, 'Attention')).toBe(true);
  await expectSameInOnnx(g);
});

test('f16 with scores in f32', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([B, H, Sq, D], { dtype: 'f16' }));
  for (const implementation of ['composite', 'unified'] as const) sdpa(g.graph, { q, k, v, implementation });
  g.graph.finalize();
  expect(hasNode(g.graph, 'Attention')).toBe(true);
  await expectSameInOnnx(g, 1e-3);
});

test('f16', async () => {
  const g = attention([scale], { dtype: 'f16' });
  expect(hasNode(g.graph, 'Attention')).toBe(true);
  await expectSameInOnnx(g, 3e-3);
});

const others: Readonly<Record<string, GraphBuilder>> = {
  'a diagonal that starts elsewhere': attention([scale, diagonal(Skv - Sq)]),
  'a softcap after the bias': attention([bias, softcap]),
  'a scale after the bias': attention([bias, scale]),
  'a negative scale': attention([(g, s) => g.op('Multiply', [s, constant(g, -0.4)])]),
  'a scale of 0': attention([(g, s) => g.op('Multiply', [s, constant(g, 0)])]),
  'another function of the scores': attention([(g, s) => g.op('Sigmoid', [s])]),
  'a bias that repeats the scores of one query': attention([bias], { queries: 1 }),
  'the scores as their own mask': attention([(g, s) => g.op('Add', [scale(g, s), s])]),
};

test.each(Object.entries(others))('%s is operations', async (_, g) => {
  g.graph.finalize();
  expect(hasNode(g.graph, 'Attention')).toBe(false);
  await expectSameInOnnx(g);
});

test('Attention has no stats', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([B, H, Sq, D]));
  sdpa(g.graph, { q, k, v, implementation: 'composite', generateStats: true, attnScale: 0.4 });
  await expectSameInOnnx(g);
  expect(hasNode(g.graph, 'Attention')).toBe(false);
});

test('features of an attention operation that ONNX lacks are named', () => {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([B, H, Sq, D]));
  sdpa(g.graph, { q, k, v, sinkToken: g.input([1, H, 1, 1]) });
  expect(() => toOnnx(g.graph)).toThrow("has sink, which ONNX's Attention does not support");
});

test.each([-0.5, 0])('a scale of %d of an attention operation is named', scale => {
  const g = new GraphBuilder();
  const operands = [g.input([B, H, Sq, D]), g.input([B, H, Skv, D]), g.input([B, H, Skv, Dv])];
  g.op('Sdpa', operands, { operands: 'q k v', results: 'o', scale });
  expect(() => toOnnx(g.graph)).toThrow(`has a scale of ${scale}, which ONNX's Attention does not support`);
});

const lengths = (g: GraphBuilder) => ({ seqLensKv: g.input([B], { dtype: 'i32', values: [7, 6] }) });
const windows: Readonly<Record<string, { options: Attributes; extra?: typeof lengths; runs: boolean }>> = {
  'causal to the last key': { options: { right: 0, align: 'bottom-right' }, runs: true },
  lengths: { options: {}, extra: lengths, runs: true },
  'lengths, causal to the last key': {
    ...{ options: { right: 0, align: 'bottom-right' }, extra: lengths, runs: true },
  },
  // onnxruntime 1.30 supports Attention of version 24, which has no windows.
  'a window': { options: { left: 2, right: 1 }, runs: false },
  'a causal window to the last key': { options: { left: 2, right: 0, align: 'bottom-right' }, runs: false },
};

test.each(Object.entries(windows))('%s of an attention operation', async (_, { options, extra, runs }) => {
  const g = new GraphBuilder();
  const operands = {
    ...{ q: g.input([B, H, Sq, D]), k: g.input([B, 2, Skv, D]), v: g.input([B, 2, Skv, Dv]) },
    ...extra?.(g),
  };
  const attrs = { operands: Object.keys(operands).join(' '), results: 'o', ...options };
  g.op('Sdpa', Object.values(operands), attrs);
  await expectSameInOnnx(g, 1e-5, { inOnnxruntime: runs });
});

test('a band from the first key with lengths is named', () => {
  const g = new GraphBuilder();
  const operands = { q: g.input([B, H, Sq, D]), k: g.input([B, H, Skv, D]), v: g.input([B, H, Skv, Dv]) };
  g.op('Sdpa', [...Object.values(operands), lengths(g).seqLensKv], {
    ...{ operands: 'q k v seqLensKv', results: 'o', right: 0 },
  });
  expect(() => toOnnx(g.graph)).toThrow('has lengths with a band from the first key');
});
