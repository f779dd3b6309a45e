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

test.each(['f16', 'f32'] as const)('so it is in 16 bits, with o in %s and casts in between', async dtype => {
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
});
