import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { checkGradients } from '../../../testing/compare/check-gradients.ts';
import { gradients } from '../../gradients.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const S = 4;
const stream = (g: GraphBuilder) => [g.scalar(11n, 'i64'), g.scalar(2n, 'i64')];
const dropout = (g: GraphBuilder, p: LogicalTensor) => g.op('Dropout', [p, ...stream(g), g.scalar(0.3)]);

/** A graph with q and v, and the scores of attention. */
function attention() {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([1, 2, S, 3]));
  return { g, q, v, scores: g.op('MatMul', [q, k], { transpose_b: true }) };
}

/**
 * The gradient with respect to x of Σ cos(n)·t_n over all tensors t of `of`, with the results of forward
 * given.
 */
async function gradientOf(
  { graph, bindings }: GraphBuilder,
  of: readonly LogicalTensor[],
  x: LogicalTensor,
): Promise<Float64Array> {
  const backward = gradients(graph.finalize(), { of, withRespectTo: [x] }).finalize();
  const all: Record<number, Tensor | number | bigint> = {
    ...bindings,
    ...(await graph.run(referenceEngine(), bindings, { policy: 'debug' })),
  };
  for (const { id, shape, dtype } of backward.seeds.values()) {
    const size = (shape ?? []).reduce((n, extent) => n * extent, 1);
    const numbers = Array.from({ length: size }, (_, n) => Math.cos(n * n + 1));
    all[id] = Tensor.from(numbers, shape ?? [], { dtype: dtype as 'f32' });
  }
  const read = new Set(backward.inputs.map(t => t.id));
  const own = Object.fromEntries(Object.entries(all).filter(([id]) => read.has(Number(id))));
  const results = await backward.run(referenceEngine(), own);
  return results[backward.gradients.get(x.id)?.id ?? -1].toFloat64();
}

/**
 * Gradients are linear in the differentiated tensors, so differentiating all of `of` at once must equal the
 * sum over single ones.
 */
async function expectSum(g: GraphBuilder, of: readonly LogicalTensor[], x: LogicalTensor): Promise<void> {
  const [first, ...others] = await Promise.all(of.map(t => gradientOf(g, [t], x)));
  const together = await gradientOf(g, of, x);
  const sum = first.map((term, n) => others.reduce((to, other) => to + other[n], term));
  sum.forEach((want, n) => {
    expect(together[n], `element ${n}`).toBeCloseTo(want, 5);
  });
}

describe('a tensor between the softmax and the product is differentiated too', () => {
  test.each<[string, (g: GraphBuilder, p: LogicalTensor) => LogicalTensor]>([
    ['the probabilities', (_, p) => p],
    ['dropout', dropout],
    ['another layout', (g, p) => g.op('Reorder', [p])],
    ['dropout in another layout', (g, p) => dropout(g, g.op('Reorder', [p]))],
  ])('%s', async (_, step) => {
    const { g, q, v, scores } = attention();
    const between = step(g, g.softmax(scores)[0]);
    await expectSum(g, [g.op('MatMul', [between, v]), between], q);
  });

  test('a step before the last', async () => {
    const { g, q, v, scores } = attention();
    const moved = g.op('Reorder', [g.softmax(scores)[0]]);
    await expectSum(g, [g.op('MatMul', [dropout(g, moved), v]), moved], q);
  });
});

describe('a tensor between the softmax and the product is read a second time', () => {
  test.each<[string, (g: GraphBuilder, p: LogicalTensor, v: LogicalTensor) => LogicalTensor]>([
    [
      'dropout, beside the product',
      (g, p, v) => {
        const d = dropout(g, p);
        return g.op('Add', [
          g.op('MatMul', [d, v]),
          g.op('ReduceSum', [g.op('Square', [d])], { axes: [-1], keep_dims: true }),
        ]);
      },
    ],
    ['probabilities, as the values of their own product', (g, p) => g.op('MatMul', [dropout(g, p), p])],
    [
      'dropout, as its own values',
      (g, p) => {
        const d = dropout(g, p);
        return g.op('MatMul', [d, d]);
      },
    ],
    [
      'probabilities, as the scale of their own dropout',
      (g, p, v) => {
        const keep = g.op('RNG', [p, ...stream(g)], { p: 0.25 });
        return g.op('MatMul', [g.op('Multiply', [g.op('Multiply', [p, p]), keep]), v]);
      },
    ],
  ])('%s', async (_, write) => {
    const { g, q, v, scores } = attention();
    await checkGradients(g, write(g, g.softmax(scores)[0], v), [q]);
  });
});

test('tensors inside a decomposed softmax have gradients, and can be differentiated with respect to', async () => {
  const { g, q, v, scores } = attention();
  const axes = { axes: [-1], keep_dims: true };
  const exponential = g.op('Exp', [g.op('Subtract', [scores, g.op('ReduceMax', [scores], axes)])]);
  const p = g.op('Divide', [exponential, g.op('ReduceSum', [exponential], axes)]);
  const o = g.op('MatMul', [p, v]);
  await expectSum(g, [o, exponential], q);

  const { g: plain, scores: same } = attention();
  const [probabilities] = plain.softmax(same);
  const { [probabilities.id]: P } = await plain.graph.finalize().run(referenceEngine(), plain.bindings);
  const dE = await gradientOf(g, [o], exponential);
  // o does not depend on the scale of a row of e, which is parallel to the row of P.
  for (let row = 0; row < P.size; row += S) {
    const along = P.toFloat64()
      .slice(row, row + S)
      .map((p, n) => p * dE[row + n]);
    expect(along.reduce((sum, x) => sum + x)).toBeCloseTo(0, 6);
    expect(Math.hypot(...dE.slice(row, row + S))).toBeGreaterThan(1e-3);
  }
});
