import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention-graph.ts';
import { gradients } from '../../gradients.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { sdpa } from './index.ts';

/** The gradients of a node by q, v and the bias, dO being fixed, and how the backward graph is partitioned. */
async function gradientsOf(implementation: 'unified' | 'composite', generateStats: boolean) {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([2, 4, 5, 8]));
  const node = sdpa(b.graph, {
    q,
    k,
    v,
    implementation,
    generateStats,
    attnScale: 0.3,
    diagonalBandRightBound: 0,
  });
  const given = await b.graph.run(cpuEngine(), b.bindings);
  const backward = gradients(b.graph, { of: node.o, withRespectTo: [q, v] });
  const seed = backward.seeds.get(node.o.id) as LogicalTensor;
  const dO = new GraphBuilder();
  dO.input([2, 4, 5, 8]);
  const results = await backward.run(cpuEngine(), { ...b.bindings, ...given, [seed.id]: dO.bindings[0] });
  return {
    kinds: backward.partitions().map(({ kind }) => kind),
    outputs: backward.outputs.length,
    values: [q, v].map(t => [...results[(backward.gradients.get(t.id) as LogicalTensor).id].toFloat64()]),
  };
}

test('the gradients of one operation are those of the operations, and one operation again', async () => {
  const [one, many] = [await gradientsOf('unified', true), await gradientsOf('composite', true)];
  expect([one.kinds, one.outputs]).toEqual([['sdpa-backward'], 2]);
  one.values.forEach((list, n) => {
    list.forEach((x, i) => {
      expect(x).toBeCloseTo(many.values[n][i], 5);
    });
  });
});

test('without stats, forward is computed again', async () => {
  const [one, other] = [await gradientsOf('unified', false), await gradientsOf('unified', true)];
  expect(one.kinds).toEqual(['sdpa-training', 'sdpa-backward']);
  expect(one.values).toEqual(other.values);
});
