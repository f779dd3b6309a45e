import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';
import { attentionPatterns } from '../../testing/attention-patterns.ts';
import { checkGradients } from '../../testing/check-gradients.ts';
import { expectSame, kernelsOf } from '../../testing/expect-same.ts';
import { gradients } from './gradients.ts';

describe('attention is one forward and one backward partition, each one call', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (name, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    g.graph.finalize();
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    await expectSame(g.graph, g.bindings);
    expect(await checkGradients(g, o, inputs)).toEqual(['sdpa-backward attention']);
    // The gradient of softmax is taken from the result of forward, which need not run again; but for Vᵀ·Pᵀ, whose rows are columns.
    const { nodes } = gradients(g.graph, { of: o, withRespectTo: inputs });
    expect(nodes.some(({ kind }) => kind === 'SoftMaxBackward')).toBe(name.includes('the other way round'));
  });
});
