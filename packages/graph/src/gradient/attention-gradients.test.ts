import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';
import { attentionPatterns } from '../../testing/attention-patterns.ts';
import { checkGradients } from '../../testing/check-gradients.ts';
import { expectSame, kernelsOf } from '../../testing/expect-same.ts';

describe('attention is one forward and one backward partition, each one call', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    g.graph.finalize();
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    await expectSame(g.graph, g.bindings);
    expect(await checkGradients(g, o, inputs)).toEqual(['sdpa-backward attention']);
  });
});
