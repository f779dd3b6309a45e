import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { attentionPatterns } from '../../../testing/attention/attention-patterns.ts';
import { backwardOf, checkGradients } from '../../../testing/compare/check-gradients.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import { gradients } from '../../gradients.ts';
import type { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { partitionsToRun } from '../../runtime/partitions/partitions-of-graph.ts';

describe('attention is one forward and one backward partition, each one call', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    g.graph.finalize();
    expect(kernelsOf(g.graph, g.bindings)).toEqual(['sdpa-training attention']);
    await expectSame(g.graph, g.bindings);
    expect(await checkGradients(g, o, inputs)).toEqual(['sdpa-backward attention']);
    // The gradient of softmax uses the result of forward, so forward need not run again.
    const { nodes } = gradients(g.graph, { of: o, withRespectTo: inputs });
    expect(nodes.some(({ kind }) => kind === 'SoftMaxBackward')).toBe(false);
  });
});

/** How the attention partitions of a graph with known shapes run, in order. */
function attentionKernels(backward: Graph): string[] {
  const compiled = backward.compile(cpuEngine());
  const run = partitionsToRun(backward.topology, 'fusion');
  const kernels = run.map(({ kind }, n) => `${kind} ${compiled.partitions[n].kernel}`);
  return kernels.filter(kernel => /sdpa|attention/.test(kernel));
}

const forwardAndBackward = ['sdpa attention', 'sdpa-backward attention'];
const drawn = (n: number): number => Math.cos(n * n + 1);

describe('if other gradients need an output that is not given, one call recomputes it', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    const factor = g.input([1]);
    const y = g.op('Multiply', [o, factor]);
    const { backward, own } = await backwardOf(g, y, [...inputs, factor], drawn);
    await expectSame(backward, own, 4e-6);
    expect(attentionKernels(backward)).toEqual(forwardAndBackward);
  });
});

describe('one call also recomputes an output on which the gradient of the output depends', () => {
  test.each(Object.entries(attentionPatterns))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    const y = g.op('Multiply', [o, o]);
    expect(await checkGradients(g, y, inputs)).toEqual(['sdpa', 'fused-operations', 'sdpa-backward']);
    const backward = gradients(g.graph, { of: y, withRespectTo: inputs }).finalize();
    expect(attentionKernels(backward)).toEqual(forwardAndBackward);
    expect(backward.nodes.some(({ kind }) => kind === 'SoftMaxBackward')).toBe(false);
  });

  test('as that of a norm after a projection does, in two layers', async () => {
    const g = new GraphBuilder();
    const [B, S, H, D] = [2, 5, 2, 3];
    const x = g.input([B, S, H * D]);
    const weights: LogicalTensor[] = [];
    const projected = (t: LogicalTensor): LogicalTensor => {
      const values = Array.from({ length: (H * D) ** 2 }, (_, n) => 0.3 * Math.sin(n * n + weights.length));
      const weight = g.input([H * D, H * D], { values });
      weights.push(weight);
      return g.op('MatMul', [t, weight]);
    };
    const reshape = (t: LogicalTensor, shape: readonly number[]) =>
      g.op('StaticReshape', [t], { shape, special_zero: false });
    const layer = (t: LogicalTensor): LogicalTensor => {
      const [q, k, v] = [0, 1, 2].map(() =>
        g.op('StaticTranspose', [reshape(projected(t), [B, S, H, D])], { order: [0, 2, 1, 3] }),
      );
      const [p] = g.softmax(g.op('MatMul', [q, k], { transpose_b: true }));
      const o = g.op('StaticTranspose', [g.op('MatMul', [p, v])], { order: [0, 2, 1, 3] });
      const sum = g.op('Add', [t, projected(reshape(o, [B, S, H * D]))]);
      const square = g.op('ReduceMean', [g.op('Square', [sum])], { axes: [-1], keep_dims: true });
      return g.op('Divide', [sum, g.op('Sqrt', [square])]);
    };
    const y = layer(layer(x));
    const wanted = [x, ...weights];
    await checkGradients(g, y, wanted);
    const backward = gradients(g.graph, { of: y, withRespectTo: wanted }).finalize();
    // The queries of the second layer are computed from the output of the first.
    expect(attentionKernels(backward)).toEqual([
      ...['sdpa attention', 'sdpa attention'],
      ...['sdpa-backward attention', 'sdpa-backward attention'],
    ]);
  });
});

describe("operations that only resemble attention's backward pass still have gradients", () => {
  const [B, H, S] = [2, 3, 4];
  type T = LogicalTensor;
  const written =
    ({
      softmax = (g, s) => g.softmax(s)[0],
      probabilities = (_, p) => p,
      values = (_, v) => v,
    }: {
      softmax?: (g: GraphBuilder, s: T) => T;
      probabilities?: (g: GraphBuilder, p: T) => T;
      values?: (g: GraphBuilder, v: T, s: T) => T;
    }) =>
    (g: GraphBuilder) => {
      // There are as many queries as keys and channels, so that sizes alone do not distinguish them.
      const [q, k, v] = [0, 1, 2].map(() => g.input([B, H, S, S]));
      const s = g.op('MatMul', [q, k], { transpose_b: true });
      const p = probabilities(g, softmax(g, s));
      return { o: g.op('MatMul', [p, values(g, v, s)]), inputs: [q, k] };
    };
  const along = (g: GraphBuilder, s: T, axis: number): [p: T, stats: T] => {
    const outputs: [T, T] = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'f32' })];
    g.graph.op('SoftMax', { attrs: { axis }, inputs: [s], outputs });
    return outputs;
  };
  const alike: Record<string, (g: GraphBuilder) => { o: T; inputs: T[] }> = {
    'a softmax without stats': written({ softmax: (g, s) => g.op('SoftMax', [s], { axis: -1 }) }),
    'stats that are not given': written({
      softmax: (g, s) => {
        const [p, stats] = along(g, s, -1);
        g.op('Exp', [stats]);
        return p;
      },
    }),
    'a softmax along the queries': written({ softmax: (g, s) => along(g, s, -2)[0] }),
    'probabilities that are a result': written({
      probabilities: (g, p) => {
        g.graph.op('End', { inputs: [p], outputs: [] });
        return p;
      },
    }),
    'probabilities that are read a second time': written({
      probabilities: (g, p) => {
        g.op('Square', [p]);
        return p;
      },
    }),
    'probabilities whose heads and queries change places': (g: GraphBuilder) => {
      const [q, k, v] = [0, 1, 2].map(() => g.input([B, S, S, S]));
      const [p] = g.softmax(g.op('MatMul', [q, k], { transpose_b: true }));
      const turned = g.op('StaticTranspose', [p], { order: [0, 2, 1, 3] });
      return { o: g.op('MatMul', [turned, v]), inputs: [q, k, v] };
    },
    'values that are the scores': written({ values: (_, __, s) => s }),
    'values that are made of the scores': written({ values: (g, v, s) => g.op('Add', [v, s]) }),
  };
  test.each(Object.entries(alike))('%s', async (_, write) => {
    const g = new GraphBuilder();
    const { o, inputs } = write(g);
    const y = g.op('Multiply', [o, o]);
    await checkGradients(g, y, inputs);
    const backward = gradients(g.graph, { of: y, withRespectTo: inputs }).finalize();
    expect(attentionKernels(backward)).not.toContain('sdpa-backward attention');
  });
});

test('attention whose probabilities are 16-bit results is one backward partition', async () => {
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
