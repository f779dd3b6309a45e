import type { DType, SdpaOptions, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { add, div, ge, load, scoreMod, select, tanh, toF32 } from '@tilewise/core/expr';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { kernelsOf } from '../../../testing/compare/expect-same.ts';
import { runOnGpu } from '../../../testing/compare/webgpu-engine.ts';
import type { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { SdpaArguments } from './arguments/arguments.ts';
import { sdpa, sdpaBackward } from './index.ts';
import { opWriter } from './op-writer.ts';

const [B, Hq, Hk, Sq, Skv, D, Dv] = [2, 4, 2, 5, 7, 8, 6];

/** The inputs of a node with other arguments, and the same tensors for a direct call of the engine. */
interface Variant {
  readonly args: (b: GraphBuilder) => Partial<SdpaArguments>;
  readonly options: (bound: (n: number) => Tensor) => SdpaOptions<Tensor>;
  readonly dtype?: 'f16';
  readonly Hk?: number;
  /** Whether only one operation can express the variant. */
  readonly unifiedOnly?: boolean;
  readonly forwardOnly?: boolean;
  /**
   * Whether the variant runs on WebGPU too, where a software adapter takes a second to compile each kernel.
   */
  readonly onGpu?: boolean;
  /** Whether the backward pass uses the unified node too. */
  readonly unifiedGradient?: boolean;
}

const lengths = (b: GraphBuilder) => ({
  usePaddingMask: true,
  seqLenQ: b.input([B, 1, 1, 1], { dtype: 'i32', values: [3, 5] }),
  seqLenKv: b.input([B, 1, 1, 1], { dtype: 'i32', values: [7, 4] }),
});
const seqLens = { seqLensQ: [3, 5], seqLensKv: [7, 4] };

const variants: Readonly<Record<string, Variant>> = {
  'nothing: the scale is 1': { args: () => ({}), options: () => ({}) },
  'a scale': { args: () => ({ attnScale: 0.3 }), options: () => ({ scale: 0.3 }) },
  'a scale in a tensor': { args: b => ({ attnScale: b.scalar(0.3) }), options: () => ({ scale: 0.3 }) },
  f16: { args: () => ({ attnScale: 0.3 }), options: () => ({ scale: 0.3 }), dtype: 'f16' },
  'groups of heads': { args: () => ({ attnScale: 0.3 }), options: () => ({ scale: 0.3 }), Hk },
  'a bias': { args: b => ({ bias: b.input([1, Hq, Sq, Skv]) }), options: t => ({ bias: t(3) }), Hk },
  causal: {
    args: () => ({ diagonalBandRightBound: 0 }),
    options: () => ({ causal: true }),
  },
  'causal, from the last key': {
    args: () => ({ diagonalBandRightBound: 0, diagonalAlignment: 'bottom-right' }),
    options: () => ({ causal: 'bottom-right' }),
    Hk,
  },
  'a band: the left bound counts the diagonal key': {
    args: () => ({ diagonalBandLeftBound: 2, diagonalBandRightBound: 1 }),
    options: () => ({ window: { left: 1, right: 1 } }),
  },
  'an alignment without a bound hides nothing': {
    args: () => ({ diagonalAlignment: 'bottom-right' }),
    options: () => ({}),
  },
  padding: { args: lengths, options: () => seqLens, Hk },
  'padding, and a diagonal from the last key of each sequence': {
    onGpu: true,
    args: b => ({
      ...lengths(b),
      diagonalBandRightBound: 0,
      diagonalBandLeftBound: 3,
      diagonalAlignment: 'bottom-right',
    }),
    options: () => ({ ...seqLens, window: { left: 2, right: 0, align: 'bottom-right' } }),
  },
  ALiBi: {
    args: () => ({ useAlibiMask: true, diagonalBandRightBound: 0 }),
    options: () => ({ alibi: true, causal: true }),
    Hk,
  },
  dropout: {
    onGpu: true,
    args: b => ({ dropout: [0.3, b.scalar(123456n, 'i64'), b.scalar(789n, 'i64')] }),
    options: () => ({ dropout: { p: 0.3, seed: 123456, offset: 789, scheme: 'onednn' } }),
    Hk,
  },
  'dropout by a mask': {
    args: b => ({
      dropout: [
        b.input([1, 1, Sq, Skv], {
          dtype: 'bool',
          values: Array.from({ length: Sq * Skv }, (_, n) => n % 3),
        }),
        b.scalar(1.5),
      ],
    }),
    options: t => ({ dropout: { mask: t(3), scale: 1.5 } }),
    unifiedOnly: true,
  },
  'a sink': {
    args: b => ({ sinkToken: b.input([1, Hq, 1, 1]) }),
    options: t => ({ sink: t(3).reshape([Hq]) }),
    unifiedOnly: true,
  },
  'heads of k and v that differ': {
    args: b => ({ v: b.input([B, 1, Skv, Dv]) }),
    options: () => ({}),
    Hk,
    unifiedOnly: true,
  },
  'a block mask': {
    args: b => ({ blockMask: b.input([B, Hq, 1, 1], { dtype: 'u8', values: [1, 0, 1, 1, 0, 1, 1, 1] }) }),
    options: t => ({ blockMask: t(3) }),
    unifiedOnly: true,
    forwardOnly: true,
  },
  pages: {
    onGpu: true,
    args: b => ({
      k: b.input([4, Hq, 4, D]),
      v: b.input([4, Hq, 4, Dv]),
      pagedAttentionKTable: b.input([B, 1, 2, 1], { dtype: 'i32', values: [2, 0, 1, 3] }),
      pagedAttentionVTable: b.input([B, 1, 2, 1], { dtype: 'i32', values: [0, 1, 2, 3] }),
      pagedAttentionMaxSeqLenKv: 7,
      ...lengths(b),
    }),
    options: t => ({
      ...seqLens,
      pageTableK: t(5).reshape([B, 2]),
      pageTableV: t(6).reshape([B, 2]),
      maxSeqLenKv: 7,
    }),
    unifiedOnly: true,
    forwardOnly: true,
  },
  'a score program': {
    onGpu: true,
    args: b => {
      const limit = b.input([1, 1, Sq, 1]);
      return {
        scoreMod: (graph, score) => {
          const g = opWriter(graph);
          const row = g.op('GenIndex', [score], { axis: 2 }, 'i32');
          const column = g.op('GenIndex', [score], { axis: 3 }, 'i32');
          const capped = g.op('Tanh', [g.op('Add', [score, limit])]);
          return g.op('Select', [g.op('GreaterEqual', [row, column], {}, 'bool'), capped, g.constant(-2)]);
        },
      };
    },
    options: t => ({
      scoreMod: scoreMod(
        ({ score, q, kv }) => select(ge(q, kv), tanh(add(score, load('limit', [0, 0, q, 0]))), -2),
        { limit: t(3) },
      ),
    }),
    unifiedGradient: true,
  },
  'a score program that casts indices and conditions': {
    args: () => ({
      scoreMod: (graph, score) => {
        const g = opWriter(graph);
        const [row, column] = [2, 3].map(axis => g.op('GenIndex', [score], { axis }, 'i32'));
        const isSeen = g.op('GreaterEqual', [row, column], {}, 'bool');
        const [seen, place] = [isSeen, column].map(t => g.op('TypeCast', [t]));
        return g.op('Add', [g.op('Add', [score, seen]), g.op('Divide', [place, g.constant(4)])]);
      },
    }),
    options: () => ({
      scoreMod: scoreMod(({ score, q, kv }) => add(add(score, select(ge(q, kv), 1, 0)), div(toF32(kv), 4))),
    }),
    unifiedGradient: true,
  },
};

/** A graph with the node of a variant, its arguments, and their bindings. */
function nodeGraph({ args, dtype: stored, ...variant }: Variant) {
  const dtype = stored ?? 'f32';
  const b = new GraphBuilder();
  const heads = variant.Hk ?? Hq;
  const q = b.input([B, Hq, Sq, D], { dtype });
  const k = b.input([B, heads, Skv, D], { dtype });
  const v = b.input([B, heads, Skv, Dv], { dtype });
  const all: SdpaArguments = { q, k, v, ...args(b) };
  const bound = (t: LogicalTensor | number): Tensor => b.bindings[typeof t === 'number' ? t : t.id] as Tensor;
  return { b, all, bound };
}

function options({ options: from }: Variant, bound: (n: number) => Tensor): SdpaOptions<Tensor> {
  return { scale: 1, ...from(bound) };
}

/** The largest difference, where a stats value of −∞ counts as 0. */
function difference(actual: Tensor, expected: Tensor): number {
  const [a, e] = [actual, expected].map(t => t.toFloat64().map(x => (x === -Infinity ? 0 : x)));
  expect(a.length).toBe(e.length);
  return a.reduce((most, x, n) => Math.max(most, Number.isNaN(x) ? Infinity : Math.abs(x - e[n])), 0);
}

const tolerance = (dtype: DType = 'f32'): number => (dtype === 'f16' ? 2e-3 : 1e-5);
type Run = (graph: Graph, bindings: GraphBuilder['bindings']) => Promise<Record<number, Tensor>>;
const enginesOf = ({ onGpu }: Variant): Readonly<Record<string, Run>> => ({
  reference: (graph, bindings) => graph.run(referenceEngine(), bindings),
  cpu: (graph, bindings) => graph.run(cpuEngine(), bindings),
  ...(onGpu && { webgpu: runOnGpu }),
});

describe.each(Object.entries(variants))('%s', { timeout: 60_000 }, (_, variant) => {
  const implementations = variant.unifiedOnly ? (['unified'] as const) : (['unified', 'composite'] as const);

  test.each(implementations)('%s forward', async implementation => {
    const { b, all, bound } = nodeGraph(variant);
    const node = sdpa(b.graph, { ...all, implementation, generateStats: true });
    const expected = await referenceEngine().sdpa(
      bound(all.q),
      bound(all.k),
      bound(all.v),
      options(variant, bound),
    );
    expect(
      b.graph
        .finalize()
        .partitions()
        .map(({ kind }) => kind),
    ).toEqual(['sdpa-training']);
    expect(kernelsOf(b.graph, b.bindings)).toEqual(['sdpa-training attention']);
    for (const [name, run] of Object.entries(enginesOf(variant))) {
      const results = await run(b.graph, b.bindings);
      expect(results[node.o.id].shape).toEqual([B, Hq, Sq, Dv]);
      expect(results[node.stats?.id ?? -1].shape).toEqual([B, Hq, Sq, 1]);
      expect(difference(results[node.o.id], expected.o), name).toBeLessThan(tolerance(variant.dtype));
      expect(difference(results[node.stats?.id ?? -1], expected.lse), name).toBeLessThan(
        tolerance(variant.dtype),
      );
    }
  });

  if (variant.unifiedOnly) {
    test('is refused as composite, with the reason', () => {
      const { b, all } = nodeGraph(variant);
      expect(() => sdpa(b.graph, { ...all, implementation: 'composite' })).toThrow(
        expect.objectContaining({ code: 'UNSUPPORTED', argument: 'implementation' }),
      );
      expect(b.graph.nodes.length).toBe(0);
    });
  }
  if (variant.forwardOnly) return;

  test.each(variant.unifiedGradient ? (['unified'] as const) : implementations)(
    '%s backward',
    async implementation => {
      const { b, all, bound } = nodeGraph(variant);
      const asked = options(variant, bound);
      const [q, k, v] = [all.q, all.k, all.v].map(bound);
      const { o, lse } = await referenceEngine().sdpa(q, k, v, asked);
      const dO = b.input([B, Hq, Sq, Dv], { dtype: all.q.dtype });
      const oInput = b.input(o.shape, { dtype: all.q.dtype, values: o.toFloat64() });
      const stats = b.input([B, Hq, Sq, 1], { values: lse.toFloat64() });
      const expected = await referenceEngine().sdpaBackward(
        { q, k, v, o, lse, dO: bound(dO) },
        { ...asked, gradients: ['dq', 'dk', 'dv'] },
      );
      const node = sdpaBackward(b.graph, { ...all, implementation, o: oInput, dO, stats });
      expect(
        b.graph
          .finalize()
          .partitions()
          .map(({ kind }) => kind),
      ).toEqual(['sdpa-backward']);
      expect(kernelsOf(b.graph, b.bindings)).toEqual(['sdpa-backward attention']);
      for (const [name, run] of Object.entries(enginesOf(variant))) {
        const results = await run(b.graph, b.bindings);
        for (const gradient of ['dq', 'dk', 'dv'] as const) {
          expect(
            difference(results[node[gradient].id], expected[gradient]),
            `${gradient} ${name}`,
          ).toBeLessThan(tolerance(variant.dtype) * 3);
        }
      }
    },
  );
});

test('a score program that casts scores to integers is refused', () => {
  const { b, all } = nodeGraph(variants['nothing: the scale is 1']);
  const scoreMod: SdpaArguments['scoreMod'] = (graph, score) => {
    const g = opWriter(graph);
    return g.op('TypeCast', [g.op('TypeCast', [score], {}, 'i32')]);
  };
  expect(() => sdpa(b.graph, { ...all, scoreMod, implementation: 'unified' })).toThrow('is not elementwise');
});
