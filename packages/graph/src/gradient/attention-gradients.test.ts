import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';
import { attentionPatterns } from '../../testing/attention-patterns.ts';
import { backwardOf, checkGradients } from '../../testing/check-gradients.ts';
import { expectSame, kernelsOf } from '../../testing/expect-same.ts';
import { gradients } from './gradients.ts';

describe('attention is one forward and one backward partition, each one call', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    g.graph.finalize();
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    await expectSame(g.graph, g.bindings);
    expect(await checkGradients(g, o, inputs)).toEqual(['sdpa-backward attention']);
    // The gradient of softmax is taken from the result of forward, which need not run again.
    const { nodes } = gradients(g.graph, { of: o, withRespectTo: inputs });
    expect(nodes.some(({ kind }) => kind === 'SoftMaxBackward')).toBe(false);
  });
});

describe('where other gradients need the output, and it is not given, it is computed again in the same call', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    const factor = g.input([1]);
    const y = g.op('Multiply', [o, factor]);
    const { backward, own } = await backwardOf(g, y, [...inputs, factor], n => Math.cos(n * n + 1));
    await expectSame(backward, own, 4e-6);
    const compiled = backward.compile(cpuEngine());
    const kernels = backward.partitions().map(({ kind }, n) => `${kind} ${compiled.partitions[n].kernel}`);
    expect(kernels.filter(kernel => /sdpa|attention/.test(kernel))).toEqual(['sdpa-backward attention']);
  });
});

test('so it is in 16 bits, the probabilities too', async () => {
  const g = new GraphBuilder();
  const [q, k, v, w] = [0, 1, 2, 3].map(() => g.input([1, 2, 8, 8], { dtype: 'f16' }));
  const s = g.op('MatMul', [q, k], { transpose_b: true }, 'f16');
  const [p, stats] = (['f16', 'f32'] as const).map(dtype => g.graph.tensor({ dtype }));
  g.graph.op('SoftMax', { attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [s], outputs: [p, stats] });
  const y = g.op('MatMul', [g.op('MatMul', [p, v], {}, 'f16'), w], {}, 'f16');
  const { backward, own } = await backwardOf(g, y, [q, k, v, w], n => Math.cos(n));
  expect(backward.partitions().map(({ kind }) => kind)).toContain('sdpa-backward');
  // The operations one by one round S, P, O, dP and dS to 11 bits each, and S is as large as 5.
  await expectSame(backward, own, 10 * 2 ** -11);
});

test.each(['f16', 'f32'] as const)(
  'attention in 16 bits is one backward partition, with o in %s and casts in between',
  async dtype => {
    const g = new GraphBuilder();
    const [q, k, v] = [0, 1, 2].map(() => g.input([1, 2, 8, 4], { dtype: 'f16' }));
    const scores = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), g.scalar(0.5)]);
    const p = g.op('TypeCast', [g.softmax(scores)[0]], {}, 'f16');
    const o = g.op('MatMul', [p, v], {}, dtype);
    const { backward, own } = await backwardOf(g, o, [q, k, v], n => Math.cos(n));
    expect(kernelsOf(backward, own)).toEqual(['sdpa-backward attention']);
    expect(backward.nodes.some(({ kind }) => kind === 'SoftMaxBackward')).toBe(false);
    // The operations one by one round P, dP and dS to 11 bits each.
    await expectSame(backward, own, 3 * 2 ** -11);
  },
);
