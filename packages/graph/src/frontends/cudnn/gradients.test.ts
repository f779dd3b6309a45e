import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { gradients } from '../../gradients.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { sdpa } from './index.ts';

/**
 * The gradients of a node with respect to q, v and the bias for a fixed dO, and how the backward graph is
 * partitioned.
 */
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

test('the gradients of the single operation equal those of the operations, and are one operation again', async () => {
  const [one, many] = [await gradientsOf('unified', true), await gradientsOf('composite', true)];
  expect([one.kinds, one.outputs]).toEqual([['sdpa-backward'], 2]);
  one.values.forEach((list, n) => {
    list.forEach((x, i) => {
      expect(x).toBeCloseTo(many.values[n][i], 5);
    });
  });
});

test('without stats, forward is recomputed', async () => {
  const [one, other] = [await gradientsOf('unified', false), await gradientsOf('unified', true)];
  expect(one.kinds).toEqual(['sdpa-training', 'sdpa-backward']);
  expect(one.values).toEqual(other.values);
});

test.each([true, false])('with stats (%s), o may feed another operation', async generateStats => {
  const run = async (implementation: 'unified' | 'composite') => {
    const b = new GraphBuilder();
    const [q, k, v] = [0, 1, 2].map(() => b.input([1, 2, 5, 8]));
    const { o } = sdpa(b.graph, { q, k, v, implementation, generateStats });
    const y = b.op('Square', [o]);
    const backward = gradients(b.graph.finalize(), { of: y, withRespectTo: [q, k, v] });
    const forward = await b.graph.run(cpuEngine(), b.bindings);
    const seed = backward.seeds.get(y.id) as LogicalTensor;
    const all: Record<number, unknown> = { ...b.bindings, ...forward, [seed.id]: forward[y.id] };
    const own = Object.fromEntries(backward.finalize().inputs.map(({ id }) => [id, all[id]]));
    const results = await backward.run(cpuEngine(), own as typeof b.bindings);
    return [q, k, v].map(t => results[backward.gradients.get(t.id)?.id ?? -1].toFloat64());
  };
  const [unified, composite] = [await run('unified'), await run('composite')];
  unified.forEach((list, n) => {
    for (const [i, x] of list.entries()) expect(x).toBeCloseTo(composite[n][i], 5);
  });
});

test('a misspelt argument is named, with the one that was meant', () => {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([1, 2, 5, 8]));
  expect(() => sdpa(b.graph, { q, k, v, atnScale: 0.3 } as never)).toThrow(
    "args has no 'atnScale'; did you mean 'attnScale'?",
  );
});

test.each([
  ['useCausalMask', 'diagonalBandRightBound: 0'],
  ['use_causal_mask_bottom_right', "diagonalAlignment: 'bottom-right', diagonalBandRightBound: 0"],
  ['slidingWindowLength', 'diagonalBandLeftBound'],
  ['isInference', 'generateStats: !isInference'],
])('the error of the deprecated argument %s gives its equivalent', (name, equivalent) => {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([1, 2, 5, 8]));
  expect(() => sdpa(b.graph, { q, k, v, [name]: true } as never)).toThrow(
    `args has no '${name}'; did you mean '${equivalent}'?`,
  );
});
