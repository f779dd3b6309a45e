import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const [B, Hk, G, Sq, Skv, D, Dv] = [2, 2, 3, 5, 7, 4, 6];

interface Backward {
  /** Multiply, Divide, or no scale at all. */
  readonly scale?: 'Multiply' | 'Divide';
  /** Uses a scale for each query. */
  readonly scaleOfRows?: boolean;
  /** The shape of an additive mask. */
  readonly mask?: readonly number[];
  readonly causal?: boolean;
  /** Applies Dropout to P and dP. */
  readonly dropout?: boolean;
  /** Makes dS' a result. */
  readonly dMask?: boolean;
  /** Computes the gradient of softmax from the probabilities, without O. */
  readonly fromProbabilities?: boolean;
  /** Recomputes O as P·V, which is also a result. */
  readonly again?: boolean;
  /** Uses groups of heads, with sums over them. */
  readonly grouped?: boolean;
}

/** The backward graph of attention, in oneDNN's form. */
function backward({
  scale,
  scaleOfRows,
  mask,
  causal,
  dropout,
  dMask,
  fromProbabilities,
  again,
  grouped,
}: Backward): GraphBuilder {
  const g = new GraphBuilder();
  const heads = grouped ? [B, Hk, G] : [B, Hk];
  const shared = grouped ? [B, Hk, 1] : [B, Hk];
  const q = g.input([...heads, Sq, D]);
  const k = g.input([...shared, Skv, D]);
  const v = g.input([...shared, Skv, Dv]);
  const given = fromProbabilities || again ? null : g.input([...heads, Sq, Dv]);
  const dO = g.input([...heads, Sq, Dv]);
  const factor = scaleOfRows ? g.input([Sq, 1]) : g.scalar(scale === 'Divide' ? 2 : 0.6);
  const stream = [g.scalar(7n, 'i64'), g.scalar(2n, 'i64'), g.scalar(0.3)];
  const drop = (x: LogicalTensor) => (dropout ? g.op('Dropout', [x, ...stream]) : x);
  const sumOfGroup = (x: LogicalTensor) =>
    grouped ? g.op('ReduceSum', [x], { axes: [2], keep_dims: true }) : x;

  let s = g.op('MatMul', [q, k], { transpose_b: true });
  if (scale) s = g.op(scale, [s, factor]);
  if (causal) {
    const visible = g.op(
      'GreaterEqual',
      [g.op('GenIndex', [s], { axis: -2 }, 'i32'), g.op('GenIndex', [s], { axis: -1 }, 'i32')],
      {},
      'bool',
    );
    s = g.op('Select', [visible, s, g.scalar(-Infinity)]);
  }
  if (mask) s = g.op('Add', [s, g.input(mask)]);
  // Stats near those of the scores, so that the probabilities have a realistic size.
  const stats = g.input([...heads, Sq, 1], { values: new Array(B * Hk * (grouped ? G : 1) * Sq).fill(2) });
  const p = g.op('Exp', [g.op('Subtract', [s, stats])]);
  const dropped = drop(p);
  sumOfGroup(g.op('MatMul', [dropped, dO], { transpose_a: true }));
  const o = again ? g.op('MatMul', [dropped, v]) : given;
  if (o && again) g.graph.op('End', { inputs: [o], outputs: [] });
  const dP = drop(g.op('MatMul', [dO, v], { transpose_b: true }));
  let dS: LogicalTensor;
  if (o) {
    const delta = g.op('ReduceSum', [g.op('Multiply', [o, dO])], { axes: [-1], keep_dims: true });
    dS = g.op('Multiply', [p, g.op('Subtract', [dP, delta])]);
  } else dS = g.op('SoftMaxBackward', [dP, p], { axis: -1 });
  if (dMask) g.graph.op('End', { inputs: [dS], outputs: [] });
  if (scale) dS = g.op(scale, [dS, factor]);
  g.op('MatMul', [dS, k]);
  sumOfGroup(g.op('MatMul', [dS, q], { transpose_a: true }));
  return g;
}

describe('a backward graph is one partition that runs as one call', () => {
  const cases: Record<string, Backward> = {
    plain: { scale: 'Multiply' },
    'without a scale': {},
    'with a divisor': { scale: 'Divide', mask: [B, 1, 1, Skv] },
    'with a mask': { scale: 'Multiply', mask: [B, Hk, Sq, Skv] },
    causal: { scale: 'Multiply', causal: true },
    'with dropout': { scale: 'Multiply', dropout: true },
    'with the gradient of its mask': { scale: 'Multiply', mask: [B, Hk, Sq, Skv], dMask: true },
    'with the gradient of a mask that is broadcast': { scale: 'Multiply', mask: [B, 1, 1, Skv], dMask: true },
    'with the gradient of a mask that it has not': { dMask: true },
    'with the gradient of its mask and dropout': {
      scale: 'Multiply',
      mask: [1, 1, Sq, Skv],
      dMask: true,
      dropout: true,
    },
    'from the probabilities': { scale: 'Multiply', fromProbabilities: true },
    'from the probabilities, with all there is': {
      scale: 'Divide',
      mask: [1, Hk, Sq, Skv],
      causal: true,
      dropout: true,
      dMask: true,
      fromProbabilities: true,
    },
    'with the output computed again': { scale: 'Multiply', causal: true, again: true },
    'with the output computed again, grouped, with dropout': { dropout: true, grouped: true, again: true },
    grouped: { scale: 'Multiply', grouped: true, mask: [B, Hk, G, Sq, Skv] },
    'grouped, from the probabilities, causal, with dropout': {
      scale: 'Multiply',
      grouped: true,
      causal: true,
      dropout: true,
      fromProbabilities: true,
    },
  };
  test.each(Object.entries(cases))('%s', async (_, options) => {
    const { graph, bindings } = backward(options);
    await expectSame(graph, bindings, 4e-6);
    expect(kernelsOf(graph, bindings)).toEqual(['sdpa-backward attention']);
  });
});

test('scores that are masked and have a scale for each query run operation by operation', async () => {
  const { graph, bindings } = backward({ scale: 'Multiply', scaleOfRows: true, causal: true });
  await expectSame(graph, bindings, 4e-6);
  expect(kernelsOf(graph, bindings)).toEqual(['sdpa-backward operations']);
});

test('gradients of single heads that share keys are summed only if the graph sums them', async () => {
  const g = new GraphBuilder();
  const q = g.input([B, 4, Sq, D]);
  const k = g.input([B, 1, Skv, D]);
  const v = g.input([B, 1, Skv, Dv]);
  const o = g.input([B, 4, Sq, Dv]);
  const dO = g.input([B, 4, Sq, Dv]);
  const s = g.op('MatMul', [q, k], { transpose_b: true });
  const p = g.op('Exp', [g.op('Subtract', [s, g.input([B, 4, Sq, 1])])]);
  g.op('MatMul', [p, dO], { transpose_a: true });
  const delta = g.op('ReduceSum', [g.op('Multiply', [o, dO])], { axes: [-1], keep_dims: true });
  const dS = g.op('Multiply', [p, g.op('Subtract', [g.op('MatMul', [dO, v], { transpose_b: true }), delta])]);
  g.op('MatMul', [dS, k]);
  g.op('MatMul', [dS, q], { transpose_a: true });
  await expectSame(g.graph, g.bindings, 4e-6);
  expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-backward attention']);
});

describe('the bound numbers decide whether it is attention', () => {
  /** A backward graph with a Select whose fill is bound to a number. */
  const selecting = (fill: number): GraphBuilder => {
    const g = new GraphBuilder();
    const q = g.input([B, Hk, Sq, D]);
    const k = g.input([B, Hk, Skv, D]);
    const v = g.input([B, Hk, Skv, Dv]);
    const dO = g.input([B, Hk, Sq, Dv]);
    const drop = (x: LogicalTensor, seed: bigint) =>
      g.op('Dropout', [x, g.scalar(seed, 'i64'), g.scalar(2n, 'i64'), g.scalar(0.3)]);
    const visible = g.input([Sq, Skv], {
      dtype: 'bool',
      values: Array.from({ length: Sq * Skv }, (_, n) => (n % 3 === 1 ? 0 : 1)),
    });
    const s = g.op('Select', [visible, g.op('MatMul', [q, k], { transpose_b: true }), g.scalar(fill)]);
    const stats = g.input([B, Hk, Sq, 1], { values: new Array(B * Hk * Sq).fill(2) });
    const p = g.op('Exp', [g.op('Subtract', [s, stats])]);
    g.op('MatMul', [drop(p, 7n), dO], { transpose_a: true });
    const dP = drop(g.op('MatMul', [dO, v], { transpose_b: true }), fill === -Infinity ? 7n : 8n);
    const dS = g.op('SoftMaxBackward', [dP, p], { axis: -1 });
    g.op('MatMul', [dS, k]);
    g.op('MatMul', [dS, q], { transpose_a: true });
    return g;
  };

  test.each([-Infinity, -1])('a fill of %d, and seeds that are two tensors', async fill => {
    const { graph, bindings } = selecting(fill);
    const partitions = await expectSame(graph, bindings, 4e-6);
    expect(partitions.map(partition => partition.kind)).toEqual(['sdpa-backward']);
  });
});

test.each([
  ['of rows', false, -2, true],
  ['of rows, as a row', false, -1, true],
  ['of columns', true, -1, false],
  ['of columns, as a row', true, -1, true],
])(
  'O∘dO %s that is summed along the other axis is not taken for δ',
  async (_, isTransposed, axis, isTurned) => {
    // There are as many queries as keys and channels, so that sizes alone do not distinguish them.
    const g = new GraphBuilder();
    const [q, k, v, o, dO] = [0, 1, 2, 3, 4].map(() => g.input([B, Hk, D, D]));
    const s = g.op('MatMul', [q, k], { transpose_b: true });
    const p = g.op('Exp', [g.op('Subtract', [s, g.input([B, Hk, D, 1])])]);
    g.op('MatMul', [p, dO], { transpose_a: true, transpose_b: isTransposed });
    const dP = g.op('MatMul', [dO, v], { transpose_a: isTransposed, transpose_b: true });
    const sum = g.op('ReduceSum', [g.op('Multiply', [o, dO])], { axes: [axis], keep_dims: true });
    const delta = isTurned ? g.op('StaticTranspose', [sum], { order: [0, 1, 3, 2] }) : sum;
    const dS = g.op('Multiply', [p, g.op('Subtract', [dP, delta])]);
    g.op('MatMul', [dS, k]);
    g.op('MatMul', [dS, q], { transpose_a: true });
    await expectSame(g.graph, g.bindings, 4e-6);
    expect(kernelsOf(g.graph, g.bindings)).not.toContain('sdpa-backward attention');
  },
);

test('a sum over heads of different groups is not taken for the sum of a group', async () => {
  const g = new GraphBuilder();
  // There are as many groups as heads per group, so that sizes alone do not distinguish them.
  const q = g.input([B, 2, 2, Sq, D]);
  const k = g.input([B, 2, 1, Skv, D]);
  const v = g.input([B, 2, 1, Skv, Dv]);
  const dO = g.input([B, 2, 2, Sq, Dv]);
  const p = g.op('Exp', [
    g.op('Subtract', [g.op('MatMul', [q, k], { transpose_b: true }), g.input([B, 2, 2, Sq, 1])]),
  ]);
  const sum = (x: LogicalTensor) => g.op('ReduceSum', [x], { axes: [1], keep_dims: true });
  sum(g.op('MatMul', [p, dO], { transpose_a: true }));
  const dS = g.op('SoftMaxBackward', [g.op('MatMul', [dO, v], { transpose_b: true }), p], { axis: -1 });
  g.op('MatMul', [dS, k]);
  sum(g.op('MatMul', [dS, q], { transpose_a: true }));
  await expectSame(g.graph, g.bindings, 4e-6);
  expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-backward operations']);
});
