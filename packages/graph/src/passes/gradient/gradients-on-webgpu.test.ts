import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';
import { expectClose } from '../../../testing/compare/expect-same.ts';
import { runOnGpu, sharedGpu } from '../../../testing/compare/webgpu-engine.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

/** Runs the backward graph on the reference and on WebGPU, where it must be one attention call. */
async function expectGradients(
  g: GraphBuilder,
  of: LogicalTensor,
  wanted: readonly LogicalTensor[],
): Promise<void> {
  const { backward, own } = await backwardOf(g, of, wanted, n => Math.cos(n * n + 1));
  const expected = await backward.run(referenceEngine(), own, { policy: 'debug' });
  expectClose(await runOnGpu(backward, own), expected, 1e-5, 'webgpu');
  const { engine } = await sharedGpu();
  const partitions = backward.partitions().filter(({ kind }) => kind === 'sdpa-backward');
  expect(partitions.map(partition => partition.compile(engine).kernel)).toEqual(['attention']);
}

test('attention with a mask and dropout has its gradients in one call on WebGPU', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([1, 2, 9, 8]), g.input([1, 2, 13, 8]), g.input([1, 2, 13, 4])];
  const scores = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), g.scalar(0.4)]);
  const visible = g.input([1, 1, 9, 13], {
    dtype: 'bool',
    values: Array.from({ length: 117 }, (_, n) => (n % 5 === 0 ? 0 : 1)),
  });
  const [p] = g.softmax(g.op('Select', [visible, scores, g.scalar(-Infinity)]));
  const dropped = g.op('Dropout', [p, g.scalar(11n, 'i64'), g.scalar(2n, 'i64'), g.scalar(0.3)]);
  await expectGradients(g, g.op('MatMul', [dropped, v]), [q, k, v]);
});

test('groups of heads, a bias and its gradient, results in another order', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([1, 2, 3, 8, 8]), g.input([1, 2, 1, 12, 8]), g.input([1, 2, 1, 12, 8])];
  const bias = g.input([1, 2, 3, 8, 12]);
  const scores = g.op('Add', [g.op('MatMul', [q, k], { transpose_b: true }), bias]);
  const [p] = g.softmax(scores);
  const o = g.op('StaticTranspose', [g.op('MatMul', [p, v])], { order: [0, 3, 1, 2, 4] });
  await expectGradients(g, o, [q, k, v, bias]);
});

test('gradients of each query head, whose heads share one key and value, are not summed', async () => {
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([2, 3, 5, 8]), g.input([2, 1, 7, 8]), g.input([2, 1, 7, 4])];
  const [o, dO] = [g.input([2, 3, 5, 4]), g.input([2, 3, 5, 4])];
  const p = g.op('Exp', [
    g.op('Subtract', [g.op('MatMul', [q, k], { transpose_b: true }), g.input([2, 3, 5, 1])]),
  ]);
  g.op('MatMul', [p, dO], { transpose_a: true });
  const delta = g.op('ReduceSum', [g.op('Multiply', [o, dO])], { axes: [-1], keep_dims: true });
  const dP = g.op('MatMul', [dO, v], { transpose_b: true });
  const dS = g.op('Multiply', [p, g.op('Subtract', [dP, delta])]);
  g.op('MatMul', [dS, k]);
  g.op('MatMul', [dS, q], { transpose_a: true });
  const { graph, bindings } = g;
  graph.finalize();
  expect(graph.partitions().map(({ kind }) => kind)).toEqual(['sdpa-backward']);
  const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  expectClose(await runOnGpu(graph, bindings), expected, 1e-5, 'webgpu');
});
