import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, it } from 'vitest';
import { type AttentionGraphOptions, attentionGraph } from './attention-graph.ts';
import { difference, inner, runGraph } from './run-graph.ts';

const plain: AttentionGraphOptions = {
  pass: 'inference',
  dtype: 'f32',
  mask: 'none',
  softmax: 'operation',
  dropout: false,
  grouped: false,
  softcap: false,
};

const masks = ['none', 'causal', 'added', 'selected'] as const;

describe('attention graphs', () => {
  it.each(masks)('with the mask %s are one partition, forward and backward', mask => {
    for (const grouped of [false, true]) {
      for (const dropout of [false, true]) {
        const options = { ...plain, mask, grouped, dropout };
        const kinds = (['inference', 'training', 'backward'] as const).map(pass =>
          attentionGraph({ ...options, pass })
            .graph.partitions()
            .map(({ kind }) => kind),
        );
        expect(kinds).toEqual([['sdpa'], ['sdpa-training'], ['sdpa-backward']]);
      }
    }
  });

  it.each(['f16', 'bf16'] as const)(
    'in %s, with everything and a softmax of single operations, are one partition',
    dtype => {
      const options = {
        ...plain,
        dtype,
        mask: 'causal',
        softmax: 'decomposed',
        softcap: true,
        dropout: true,
      } as const;
      expect(
        attentionGraph(options)
          .graph.partitions()
          .map(({ kind }) => kind),
      ).toEqual(['sdpa']);
    },
  );

  it('give the same as one partition and as single operations, and keep no scores', async () => {
    const { graph, inputs } = attentionGraph({ ...plain, pass: 'training', mask: 'causal', grouped: true });
    const engine = cpuEngine();
    const [fused, single] = await Promise.all(
      (['fusion', 'debug'] as const).map(policy =>
        runGraph(graph, graph.partitions({ policy }), engine, inputs),
      ),
    );
    expect(fused?.partitions.map(({ kernel }) => kernel)).toEqual(['attention']);
    expect(fused && single && difference(fused, single)).toBeLessThan(2e-6);
    const [partition] = graph.partitions();
    // The scores, scaled, masked, and their softmax, for 4 heads with 64 × 64 each, and the tensors that
    // build the mask.
    expect(partition && inner(graph, partition).bytes).toBeGreaterThan(4 * (4 * 4 * 64 * 64));
  });
});
