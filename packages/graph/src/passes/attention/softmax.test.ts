import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];
const scores = [B, H, Sq, Skv];

/** Where a softmax that is written out may read something else than its scores s, and their exponentials. */
interface Reads {
  readonly maximumOf?: LogicalTensor;
  readonly sumOf?: LogicalTensor;
  readonly maximumAxis?: number;
}

/** Attention whose softmax is written out, with the logarithm of its sum. */
function attention(readsOf: (g: GraphBuilder, s: LogicalTensor) => Reads = () => ({})): GraphBuilder {
  const g = new GraphBuilder();
  const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
  const { maximumOf = s, sumOf, maximumAxis = -1 } = readsOf(g, s);
  const max = g.op('ReduceMax', [maximumOf], { axes: [maximumAxis], keep_dims: true });
  const e = g.op('Exp', [g.op('Subtract', [s, max])]);
  const sum = g.op('ReduceSum', [sumOf ?? e], { axes: [-1], keep_dims: true });
  g.op('Add', [g.op('Log', [sum]), max]);
  g.op('MatMul', [g.op('Divide', [e, sum]), g.input([B, H, Skv, Dv])]);
  return g;
}

test('a decomposed softmax is recognised', async () => {
  const { graph, bindings } = attention();
  await expectSame(graph, bindings);
  expect(kernelsOf(graph, bindings)).toEqual(['sdpa-training attention']);
});

test.each<readonly [string, Parameters<typeof attention>[0]]>([
  ['the sum of other exponentials', g => ({ sumOf: g.op('Exp', [g.input(scores)]) })],
  ['the maximum of other scores', g => ({ maximumOf: g.input(scores) })],
  ['the maximum over the queries', () => ({ maximumAxis: -2 })],
])('a quotient with %s is not a softmax', async (_, reads) => {
  const { graph, bindings } = attention(reads);
  await expectSame(graph, bindings);
  expect(kernelsOf(graph, bindings).join()).not.toContain('attention');
});

test('a softmax without a maximum may take any function of the scores', async () => {
  const g = new GraphBuilder();
  const s = g.op('MatMul', [g.input([B, H, Sq, D]), g.input([B, H, Skv, D])], { transpose_b: true });
  const e = g.op('Exp', [g.op('Tanh', [s])]);
  const sum = g.op('ReduceSum', [e], { axes: [-1], keep_dims: true });
  g.op('MatMul', [g.op('Divide', [e, sum]), g.input([B, H, Skv, Dv])]);
  const { graph, bindings } = g;
  await expectSame(graph, bindings);
});
