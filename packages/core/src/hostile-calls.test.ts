import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { describe, expect, test } from 'vitest';
import { mutations } from '../testing/mutations.ts';
import { cpuEngine } from './cpu/index.ts';
import { TilewiseError } from './errors.ts';
import { add, load, mul } from './expr/build.ts';
import { scoreMod } from './expr/mods/mod.ts';
import {
  asBhsd,
  cost,
  cumulativeLengths,
  dequantiseMxfp8,
  fromPages,
  lengthsFromCumulative,
  mergePartials,
  normalise,
  pack,
  packedSequence,
  quantiseMxfp8,
  splitQkv,
  standardSlopes,
  Tensor,
  toPages,
  unpack,
} from './index.ts';
import { referenceEngine, sdpa, sdpaBackward } from './reference/index.ts';

const f32 = (...shape: number[]): Tensor =>
  Tensor.from(Array(shape.reduce((n, d) => n * d)).fill(0.5), shape);
const [q, k] = [f32(1, 2, 3, 4), f32(1, 1, 3, 4)];
const { o, lse } = sdpa(q, k, k);
const options = {
  ...{
    scale: 0.5,
    causal: true,
    window: { left: 2, right: 0, align: 'top-left' },
    softcap: 3,
    alibi: [0.5, 0.25],
  },
  ...{ bias: f32(3, 3), mask: Tensor.from([1, 1, 1], [3], { dtype: 'bool' }), sink: [0, 1] },
  ...{ seqLensQ: [3], seqLensKv: [2], dropout: { p: 0.5, seed: 3n, offset: 4, scheme: 'onednn' } },
  ...{ outputs: { max: true, sumExp: false }, outDType: 'f16' },
  scoreMod: scoreMod(({ score, h }) => add(score, mul(2, load('slopes', [h]))), { slopes: f32(2) }),
};
const ragged = {
  inputs: { q: f32(3, 2, 4), k: f32(3, 2, 4), v: f32(3, 2, 4) },
  options: { cuSeqLensQ: [0, 1, 3], seqLensKv: [1, 1], raggedOffsets: { k: [0, 8, 24], v: [0, 8, 24] } },
};
const paged = {
  inputs: { q, k: f32(2, 1, 2, 4), v: f32(2, 1, 2, 4) },
  options: {
    seqLensKv: [3],
    pageTableK: i32([0, 1], [1, 2]),
    pageTableV: i32([0, 1], [2]),
    cuPagesV: [0, 2],
  },
};
const f8 = quantiseMxfp8(q);
const eightBits = {
  fp8: { descaleQ: 0.5, scaleS: 2, formatP: { dtype: 'u8', zeroPoint: 3 } },
  gradDType: 'f32',
};
const backward = { inputs: { q, k, v: k, o, lse, dO: o, dLse: lse }, options: { gradients: ['dq', 'dv'] } };

function i32(values: number[], shape: number[]): Tensor {
  return Tensor.from(values, shape, { dtype: 'i32' });
}

type Call = readonly [name: string, base: object, run: (given: never) => unknown];
type Given = { readonly inputs: { q: Tensor; k: Tensor; v: Tensor }; readonly options: object };

/** Calls attention with inputs that may be missing. */
function attend({ inputs, options }: Given): unknown {
  const { q, k, v } = Object(inputs) as Given['inputs'];
  return sdpa(q, k, v, options);
}

const calls: readonly Call[] = [
  ['options of forward', options, given => sdpa(q, k, k, given)],
  ['options of the problem', options, given => cost(normalise({ q, k, v: k }, given).problem)],
  ['packed and ragged calls', ragged, attend],
  ['paged calls', paged, attend],
  ['calls in 8 bits', eightBits, given => sdpa(q, k, k, given)],
  ['backward calls', backward, ({ inputs, options: o }: never) => sdpaBackward(inputs, o)],
  [
    'MXFP8 tensors',
    { t: q, options: { along: 'positions', dtype: 'f8e5m2', layout: 'rows' } },
    ({ t, options: o }: never) => quantiseMxfp8(t, o),
  ],
  [
    'MXFP8 tensors to read',
    { tensor: f8, options: { along: 'channels' } },
    ({ tensor, options: o }: never) => dequantiseMxfp8(tensor, o),
  ],
  [
    'parts to merge',
    {
      parts: [
        { o, lse },
        { o, lse },
      ],
    },
    ({ parts }: never) => mergePartials(parts),
  ],
  ['dense tensors to pack', { t: q, lengths: [2] }, ({ t, lengths }: never) => pack(t, lengths)],
  [
    'packed tensors',
    { t: f32(3, 2, 4), starts: [0, 1, 3], n: 1, S: 3 },
    ({ t, starts, n, S }: never) => [unpack(t, starts, S), packedSequence(t, starts, n)],
  ],
  ['tensors to page', { t: q, size: 2 }, ({ t, size }: never) => toPages(t, size)],
  ['paged tensors', { paged: toPages(q, 2), S: 3 }, ({ paged: p, S }: never) => fromPages(p, S)],
  [
    'interleaved tensors',
    { t: f32(1, 2, 3, 2, 4), layout: 'bs3hd' },
    ({ t, layout }: never) => splitQkv(t, layout),
  ],
  ['dense layouts', { t: q, layout: 'bshd' }, ({ t, layout }: never) => asBhsd(t, layout)],
  [
    'lists of lengths',
    { lengths: [2, 0, 3] },
    ({ lengths }: never) => lengthsFromCumulative(cumulativeLengths(lengths)),
  ],
  ['numbers of heads', { heads: 12 }, ({ heads }: never) => standardSlopes(heads)],
];

const { seed, count, timeout } = fuzzRun(120, 5);

/** By mutation, errors that do not belong to this library, and calls that take more than two seconds. */
function faults([, base, run]: Call): string[] {
  return [...mutations(base, count, seed)].flatMap(({ value, change }) => {
    const start = processorTime();
    let fault: string | null = null;
    try {
      run(value as never);
    } catch (error) {
      if (!(error instanceof TilewiseError)) fault = `${change}: ${error}`;
    }
    if (processorTime() - start > 2000) fault = `${change} takes more than two seconds`;
    return fault === null ? [] : [fault];
  });
}

test.each(calls)(
  `%s with something wrong of seed ${seed} give typed errors, and at once`,
  {
    timeout,
  },
  (...call) => {
    expect(faults(call)).toEqual([]);
  },
);

const noChannels = (dtype?: 'f8e4m3' | 'u8'): Tensor => Tensor.zeros([2 ** 17, 1, 2 ** 15, 0], { dtype });

test.each<[string, () => Tensor]>([
  ['quantised', () => quantiseMxfp8(noChannels()).values],
  ['dequantised', () => dequantiseMxfp8({ values: noChannels('f8e4m3'), scales: noChannels('u8') })],
])('rows without channels are %s at once, however many there are', (_, run) => {
  const start = processorTime();
  expect(run().size).toBe(0);
  expect(processorTime() - start).toBeLessThan(1000);
});

describe.each([referenceEngine(), cpuEngine()])('on the $name engine', engine => {
  test.each([2 ** 24, 1e8, 2 ** 31 - 1])(
    'a batch of %i entries without elements is computed or refused at once',
    async B => {
      const none = Tensor.zeros([1, 1, 0, 8]).expand([B, 1, 0, 8]);
      const start = processorTime();
      const done = await engine.sdpa(none, none, none).catch((error: unknown) => error);
      if (done instanceof Error) expect(done).toBeInstanceOf(TilewiseError);
      expect(processorTime() - start).toBeLessThan(2000);
    },
  );
});
