import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { gradients } from '../../gradients.ts';
import { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

/** A chain of operations on x. */
function chain(length: number, next: (g: Graph, x: LogicalTensor, n: number) => LogicalTensor) {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2] });
  let y = x;
  for (let n = 0; n < length; n++) y = next(g, y, n);
  return { g: g.finalize(), x, y };
}

const unary = (kind: 'Tanh' | 'Reorder') => (g: Graph, x: LogicalTensor) => {
  const y = g.tensor({ dtype: 'f32', shape: [2] });
  g.op(kind, { inputs: [x], outputs: [y] });
  return y;
};

test.each([2500, 10_000])('the gradient of %i operations is written without a stack overflow', length => {
  const { g, x, y } = chain(length, unary('Tanh'));
  const backward = gradients(g, { of: y, withRespectTo: [x] });
  expect(backward.nodes.filter(node => node.kind === 'TanhBackward')).toHaveLength(length);
});

test('the gradient of ten thousand operations that only move elements is written without a stack overflow', () => {
  const { g, x, y } = chain(10_000, (graph, t, n) => unary(n === 0 ? 'Tanh' : 'Reorder')(graph, t));
  expect(gradients(g, { of: y, withRespectTo: [x] }).gradients.size).toBe(1);
});

test('long chains give the values of short ones', async () => {
  const { g, x, y } = chain(300, unary('Tanh'));
  const backward = gradients(g, { of: y, withRespectTo: [x] }).finalize();
  const value = Tensor.from([0.5, -0.25], [2]);
  const seed = backward.seeds.get(y.id)?.id ?? -1;
  const results = await backward.run(cpuEngine(), { [x.id]: value, [seed]: Tensor.from([1, 1], [2]) });
  const got = results[backward.gradients.get(x.id)?.id ?? -1].toFloat64();
  const slope = (from: number): number => {
    let [z, d] = [from, 1];
    for (let n = 0; n < 300; n++) {
      z = Math.tanh(z);
      d *= 1 - z * z;
    }
    return d;
  };
  expect(got[0]).toBeCloseTo(slope(0.5), 6);
  expect(got[1]).toBeCloseTo(slope(-0.25), 6);
});
