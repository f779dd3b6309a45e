import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const [B, H, Sq, Skv, D] = [2, 3, 5, 7, 4];

test('a product of probabilities and values may not have a bias', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [Sq, Skv, Skv].map(S => g.input([B, H, S, D]));
  const p = g.op('SoftMax', [g.op('MatMul', [q, k], { transpose_b: true })], { axis: -1 });
  g.op('MatMul', [p, v, g.input([D])]);
  await expectSame(g.graph, g.bindings);
  expect(kernelsOf(g.graph, g.bindings).join()).not.toContain('attention');
});

test.each(['dv', 'dq', 'dk'])('%s with a bias is computed outside of backward attention', async biased => {
  const g = new GraphBuilder();
  const [q, k, v, dO] = [Sq, Skv, Skv, Sq].map(S => g.input([B, H, S, D]));
  const stats = g.input([B, H, Sq, 1]);
  const gradient = (name: string, x: LogicalTensor, y: LogicalTensor, transposed: boolean): LogicalTensor =>
    g.op('MatMul', name === biased ? [x, y, g.input([D])] : [x, y], { transpose_a: transposed });
  const p = g.op('Exp', [g.op('Subtract', [g.op('MatMul', [q, k], { transpose_b: true }), stats])]);
  gradient('dv', p, dO, true);
  const dS = g.op('SoftMaxBackward', [g.op('MatMul', [dO, v], { transpose_b: true }), p], { axis: -1 });
  gradient('dq', dS, k, false);
  gradient('dk', dS, q, true);
  await expectSame(g.graph, g.bindings);
});

test('a transpose that reverses all dimensions of the probabilities is not that of a product', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => g.input([2, 2, 2, 2]));
  const p = g.op('SoftMax', [g.op('MatMul', [q, k], { transpose_b: true })], { axis: -1 });
  g.op('MatMul', [v, g.op('StaticTranspose', [p], { order: [] })]);
  await expectSame(g.graph, g.bindings);
  expect(kernelsOf(g.graph, g.bindings).join()).not.toContain('attention');
});
