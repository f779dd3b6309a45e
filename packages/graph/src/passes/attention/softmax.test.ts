import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';

const [B, H, Sq, Skv, D, Dv] = [2, 3, 5, 7, 4, 6];

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
