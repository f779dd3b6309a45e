import { add, flatten, kv, load, mul, q, scoreMod, sub, toF32 } from '@tilewise/core/expr';
import { fullPython, hasModule, python } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf } from '../../../testing/compare/check-gradients.ts';
import { PythonCases } from '../../../testing/python/python-cases.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { toJax } from '../jax/index.ts';
import { toTorch } from '../torch/index.ts';

const [B, Hq, Hk, Sq, Skv, D] = [2, 4, 2, 5, 7, 3];

interface Call {
  readonly attrs?: Attributes;
  /** The operands after q, k and v. */
  readonly more?: (g: GraphBuilder) => Readonly<Record<string, LogicalTensor>>;
  readonly results?: string;
  readonly shapes?: Readonly<Record<'q' | 'k' | 'v', readonly number[]>>;
}

/** Builds a graph of one Sdpa; returns its operands that have gradients. */
function sdpa(
  g: GraphBuilder,
  { attrs = {}, more = () => ({}), results = 'o', shapes }: Call,
): LogicalTensor[] {
  const [sq, sk, sv] = [
    shapes?.q ?? [B, Hq, Sq, D],
    shapes?.k ?? [B, Hk, Skv, D],
    shapes?.v ?? [B, Hk, Skv, D],
  ];
  const operands: Record<string, LogicalTensor> = {
    q: g.input(sq),
    k: g.input(sk),
    v: g.input(sv),
    ...more(g),
  };
  const outputs = results
    .split(' ')
    .map(name => g.graph.tensor({ dtype: name === 'dropoutMask' ? 'bool' : 'f32' }));
  const names = { operands: Object.keys(operands).join(' '), results };
  g.graph.op('Sdpa', { attrs: { ...attrs, ...names }, inputs: Object.values(operands), outputs });
  const trained = ['q', 'k', 'v', 'bias', 'sink', 'alibi'];
  return trained.flatMap(name => operands[name] ?? []);
}

const bits = (shape: readonly number[]) => ({
  dtype: 'bool' as const,
  values: Array.from({ length: shape.reduce((n, x) => n * x, 1) }, (_, n) => Number(n % 3 !== 1)),
});
const dropped = (g: GraphBuilder) => ({
  'dropout.seed': g.scalar(2n ** 50n + 3n, 'i64'),
  'dropout.offset': g.scalar(9n, 'i64'),
});
const near = scoreMod(({ score }) => sub(score, mul(load('slope', [0]), toF32(sub(q, kv)))));
const shifted = scoreMod(({ score }) => add(score, load('shift', [kv, 0])));

const calls: Readonly<Record<string, Call>> = {
  plain: {},
  'with a scale and results lse': { attrs: { scale: 0.3 }, results: 'o lse' },
  'a scale that is bound': { more: g => ({ scale: g.scalar(0.4) }) },
  causal: { attrs: { right: 0 } },
  'causal from the bottom right': { attrs: { right: 0, align: 'bottom-right' } },
  'in a window': { attrs: { left: 2, right: 1 } },
  softcapped: { attrs: { softcap: 1.5 } },
  'standard slopes': { attrs: { alibi: true, right: 0 } },
  'own slopes, from the bottom right': {
    attrs: { align: 'bottom-right', right: 0 },
    more: g => ({ alibi: g.input([Hq]) }),
  },
  'a bias': { more: g => ({ bias: g.input([1, Hq, Sq, Skv]) }) },
  'a bias of keys, a softcap and a mask': {
    attrs: { softcap: 2 },
    more: g => ({ bias: g.input([B, 1, 1, Skv]), mask: g.input([B, 1, Sq, Skv], bits([B, 1, Sq, Skv])) }),
  },
  'a sink': { attrs: { right: 0 }, more: g => ({ sink: g.input([Hq]) }), results: 'o lse' },
  lengths: {
    attrs: { right: 0, align: 'bottom-right' },
    more: g => ({
      seqLensQ: g.input([B], { dtype: 'i32', values: [5, 3] }),
      seqLensKv: g.input([B], { dtype: 'i32', values: [4, 7] }),
    }),
  },
  'a score program with a capture': {
    attrs: { score_mod: JSON.stringify(flatten(near.expr)) },
    more: g => ({ 'captures.slope': g.input([1]) }),
  },
  'a score program that reads a table': {
    attrs: { score_mod: JSON.stringify(flatten(shifted.expr)) },
    more: g => ({ 'captures.shift': g.input([Skv, 2]) }),
  },
  'dropout that is drawn': { attrs: { p: 0.3 }, more: dropped, results: 'o dropoutMask' },
  'dropout with a mask of PyTorch': {
    attrs: { p: 0.3, scheme: 'torch-efficient' },
    more: dropped,
    results: 'o dropoutMask',
  },
  'dropout as in PyTorch, with gradients': { attrs: { p: 0.3, scheme: 'torch-efficient' }, more: dropped },
  'dropout by a mask': { more: g => ({ 'dropout.mask': g.input([B, 1, Sq, Skv], bits([B, 1, Sq, Skv])) }) },
  'tiles that are left out': {
    shapes: { q: [1, 2, 200, 4], k: [1, 1, 300, 4], v: [1, 1, 300, 4] },
    more: g => ({ blockMask: g.input([1, 2, 2, 1], { dtype: 'u8', values: [1, 6, 7, 4] }) }),
  },
};

/** Calls that are exported to PyTorch only. */
const onlyTorch: Readonly<Record<string, Call>> = {
  'dropout as in FlashAttention-2': { attrs: { p: 0.3, scheme: 'flash-attention-2' }, more: dropped },
};

const hasLibrary = {
  torch: await hasModule('torch', python),
  jax: await hasModule('jax', fullPython),
};

test.for(['torch', 'jax'] as const)(
  '%s: Sdpa gives what the reference gives with each option, and its gradients',
  { timeout: 600_000 },
  async (library, { skip }) => {
    skip(!hasLibrary[library]);
    const cases = new PythonCases(library);
    const own = Object.entries({ ...calls, ...(library === 'torch' && onlyTorch) });
    for (const [label, call] of own) {
      const g = new GraphBuilder();
      await cases.add(label, g, sdpa(g, call));
    }
    for (const [label, call] of own) {
      if (call.shapes || call.results?.includes('dropoutMask')) continue;
      const g = new GraphBuilder();
      const by = sdpa(g, call);
      const { backward, own: bindings } = await backwardOf(g, g.graph.finalize().outputs[0], by, n =>
        Math.cos(n),
      );
      await cases.add(`the gradients of ${label}`, { graph: backward, bindings });
    }
    const wrong = [...(await cases.run())].filter(
      ([, { problem, outputs = [], gradients = [] }]) =>
        problem !== undefined || [...outputs, ...gradients].some(x => typeof x === 'string' || x > 5e-6),
    );
    expect(wrong).toEqual([]);
  },
);

const refusals: readonly (readonly [string, Call, RegExp])[] = [
  ['the largest score', { results: 'o max' }, /^operation Sdpa 0: has the result 'max', which the exported/],
  [
    'scalars of 8-bit attention',
    { more: g => ({ 'fp8.descaleQ': g.input([1]) }) },
    /^operation Sdpa 0: has the option 'fp8.descaleQ'/,
  ],
  [
    'pages',
    { more: g => ({ pageTableK: g.input([B, 1], { dtype: 'i32', values: [0, 1] }) }) },
    /^operation Sdpa 0: has the option 'pageTableK'/,
  ],
];

test('refuses the masks of FlashAttention-2 where Python does not draw them', () => {
  const written = (results: string): GraphBuilder['graph'] => {
    const g = new GraphBuilder();
    sdpa(g, { attrs: { p: 0.3, scheme: 'flash-attention-2' }, more: dropped, results });
    return g.graph;
  };
  expect(() => toJax(written('o'))).toThrow(
    "dropout scheme 'flash-attention-2', which is not exported to JAX",
  );
  expect(() => toTorch(written('o dropoutMask'))).toThrow("result 'dropoutMask' of the dropout scheme");
});

test.each(refusals)('refuses %s by name', (_, call, message) => {
  const g = new GraphBuilder();
  sdpa(g, call);
  expect(() => toTorch(g.graph)).toThrow(message);
});
