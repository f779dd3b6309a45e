import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { runOnGpu } from '../../../testing/compare/webgpu-engine.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Implementation, SdpaFp8Arguments } from './arguments/arguments.ts';
import { sdpaFp8, sdpaFp8Backward } from './index.ts';

const [B, Hq, Hk, Sq, Skv, D, Dv] = [2, 4, 2, 5, 7, 8, 6];

/** A node with some arguments replaced. */
interface Variant {
  readonly args?: (b: GraphBuilder) => Partial<SdpaFp8Arguments>;
  readonly dtype?: 'f8e4m3' | 'f8e5m2';
  readonly heads?: number;
  /** The number of rows at the start that see no key. */
  readonly unseen?: number;
  readonly onGpu?: boolean;
}

const variants: Readonly<Record<string, Variant>> = {
  plain: { onGpu: true },
  'in E5M2': { dtype: 'f8e5m2' },
  'results in f16': { args: () => ({ oDType: 'f16' }) },
  'groups of heads, causal': { heads: Hk, args: () => ({ diagonalBandRightBound: 0 }) },
  'padding; one sequence has no keys': {
    unseen: Hq * Sq,
    args: b => ({
      usePaddingMask: true,
      seqLenQ: b.input([B, 1, 1, 1], { dtype: 'i32', values: [3, 5] }),
      seqLenKv: b.input([B, 1, 1, 1], { dtype: 'i32', values: [0, 4] }),
    }),
  },
  dropout: { heads: Hk, args: b => ({ dropout: [0.3, b.scalar(12n, 'i64'), b.scalar(7n, 'i64')] }) },
};

const forwardScalars = {
  ...{ descaleQ: 2, descaleK: 0.5, descaleV: 4, descaleS: 1 / 64, scaleS: 64, scaleO: 8 },
};
const { scaleO: _, ...common } = forwardScalars;
const backwardScalars = {
  ...{ ...common, descaleO: 1 / 8, descaleDO: 2, descaleDP: 1 / 16, scaleDP: 16 },
  ...{ scaleDQ: 4, scaleDK: 4, scaleDV: 4 },
};

const inputs = <S extends object>(b: GraphBuilder, scalars: S) =>
  Object.fromEntries(
    Object.entries(scalars).map(([name, x]) => [name, b.input([1, 1, 1, 1], { values: [x] })]),
  ) as unknown as Readonly<Record<keyof S, LogicalTensor>>;

/** The results of a node by their names. */
type Results = Readonly<Record<string, LogicalTensor>>;

function forward(
  b: GraphBuilder,
  { args, dtype = 'f8e4m3', heads = Hq }: Variant,
  implementation: Implementation,
) {
  const q = b.input([B, Hq, Sq, D], { dtype });
  const [k, v] = [D, Dv].map(d => b.input([B, heads, Skv, d], { dtype }));
  return sdpaFp8(b.graph, {
    ...{ q, k, v, implementation, attnScale: 0.25, generateStats: true },
    ...inputs(b, forwardScalars),
    ...args?.(b),
  });
}

function backward(
  b: GraphBuilder,
  { args, dtype = 'f8e4m3', heads = Hq, unseen = 0 }: Variant,
  implementation: Implementation,
) {
  const q = b.input([B, Hq, Sq, D], { dtype });
  const [k, v] = [D, Dv].map(d => b.input([B, heads, Skv, d], { dtype }));
  const [o, dO] = [0, 1].map(() => b.input([B, Hq, Sq, Dv], { dtype }));
  const values = Array.from({ length: B * Hq * Sq }, (_, n) => (n < unseen ? -Infinity : 2 + Math.sin(n)));
  const stats = b.input([B, Hq, Sq, 1], { values });
  const { oDType, ...others } = args?.(b) ?? {};
  return sdpaFp8Backward(b.graph, {
    ...{ q, k, v, o, dO, stats, implementation, attnScale: 0.25, ...(oDType && { gradDType: oDType }) },
    ...inputs(b, backwardScalars),
    ...others,
  });
}

type Run = (b: GraphBuilder) => Promise<Readonly<Record<number, Tensor>>>;
const engines: Readonly<Record<string, Run>> = {
  reference: b => b.graph.run(referenceEngine(), b.bindings),
  cpu: b => b.graph.run(cpuEngine(), b.bindings),
  webgpu: b => runOnGpu(b.graph, b.bindings),
};

async function results(engine: string, write: (b: GraphBuilder) => object) {
  const b = new GraphBuilder();
  const node = write(b) as Results;
  const made = await engines[engine](b);
  return Object.fromEntries(Object.entries(node).map(([name, { id }]) => [name, made[id]]));
}

/**
 * 8-bit and 16-bit results must be equal; f32 results may differ by the order of factors. For a row that sees
 * no key, the implementations have different stats.
 */
function expectSame(got: Tensor, want: Tensor, name: string): void {
  expect([got.dtype, got.shape], name).toEqual([want.dtype, want.shape]);
  const expected = want.toFloat64().map(x => (x === -Infinity ? 0 : x));
  if (want.dtype !== 'f32') expect(got.toFloat64(), name).toEqual(expected);
  const largest = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const worst = got.toFloat64().reduce((most, x, n) => Math.max(most, Math.abs(x - expected[n])), 0);
  expect(worst, name).toBeLessThanOrEqual(1e-6 * largest);
}

describe.each(Object.entries(variants))('%s', (_name, variant) => {
  test.each(Object.entries({ forward, backward }))(
    '%s: the operations give the results of the single operation',
    async (_pass, write) => {
      for (const engine of ['reference', 'cpu', ...(variant.onGpu ? ['webgpu'] : [])]) {
        const expected = await results(engine, b => write(b, variant, 'unified'));
        const made = await results(engine, b => write(b, variant, 'composite'));
        expect(Object.keys(made).sort()).toEqual(Object.keys(expected).sort());
        for (const [name, want] of Object.entries(expected))
          expectSame(made[name], want, `${engine} ${name}`);
      }
    },
  );
});

test('forward, the operations become one attention call, which returns the largest probability', () => {
  for (const variant of Object.values(variants)) {
    const b = new GraphBuilder();
    forward(b, variant, 'composite');
    const calls = b.graph
      .finalize()
      .compile(cpuEngine())
      .partitions.filter(({ kernel }) => kernel === 'attention');
    expect(calls.length).toBe(1);
    expect(calls[0].outputs.some(({ shape }) => `${shape}` === '1,1,1,1')).toBe(true);
  }
});

test('arguments that operations cannot express, and operands of other dtypes, are refused', () => {
  const write = (args: Partial<SdpaFp8Arguments>) => () => {
    const b = new GraphBuilder();
    forward(b, { args: () => args }, 'composite');
  };
  const b = new GraphBuilder();
  expect(write({ sinkToken: b.input([1, Hq, 1, 1]) })).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED' }),
  );
  expect(write({ q: b.input([B, Hq, Sq, D]) })).toThrow(
    /q must be f8e4m3 or f8e5m2, the dtype that P is rounded to, got f32/,
  );
});
