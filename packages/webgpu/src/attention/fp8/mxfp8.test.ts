import {
  type BlockScaleLayout,
  dequantiseMxfp8,
  type Mxfp8DType,
  quantiseMxfp8,
  Tensor,
} from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { mxfp8Call } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { normal } from '../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type GpuTensor, sdpa, sdpaBackward } from '../../index.ts';
import { mxfp8 as withKernels } from '../../subpaths/fp8.ts';

interface Case {
  readonly shape: Parameters<typeof mxfp8Call>[0];
  readonly layout: BlockScaleLayout;
  readonly dtype: Mxfp8DType;
  readonly options: object;
}

const cases: Readonly<Record<string, Case>> = {
  'f8e4m3, several blocks, causal, a sink, cuDNN’s layout': {
    shape: { B: 1, Hq: 4, Hk: 2, Sq: 70, Skv: 77, D: 40 },
    layout: 'F8_128x4',
    dtype: 'f8e4m3',
    // The scores differ so much that blocks of dS hold subnormal numbers, whose rounding depends on the other
    // values in the block.
    options: { causal: true, sink: [0.5, -1, 0, 1], scale: 1.5 },
  },
  'f8e5m2, an odd head size, lengths and dropout': {
    shape: { B: 2, Hq: 1, Hk: 1, Sq: 33, Skv: 45, D: 9 },
    layout: 'rows',
    dtype: 'f8e5m2',
    options: { seqLensQ: [33, 20], seqLensKv: [45, 34], dropout: { p: 0.25, seed: 3 } },
  },
};

const errors = (a: Tensor, b: Tensor): number[] => {
  const want = b.toFloat64();
  return [...a.toFloat64()].map((x, n) => (Object.is(x, want[n]) ? 0 : Math.abs(x - want[n])));
};
const largest = (t: Tensor): number => t.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);

test.each(Object.entries(cases))('MXFP8 agrees with the reference: %s', async (_, one) => {
  const ctx = await sharedContext();
  const { layout, dtype } = one;
  const call = mxfp8Call<Tensor>(one.shape, {
    normal: (shape, seed) => normal(shape, seed, 'bf16'),
    quantise: (t, along) => quantiseMxfp8(t, { along, layout, dtype }),
  });
  const { q, k, v, dO } = call;
  const mxfp8 = withKernels({ ...call.mxfp8, layout });
  const outputs = { amaxO: true, amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true };
  const all = { ...one.options, mxfp8, outputs, outDType: 'f32', gradDType: 'f32' } as const;
  const [gq, gk, gv, gdO] = [q, k, v, dO].map(t => ctx.upload(t));
  const exact = exactSdpa(q, k, v, all);
  const results = sdpa(ctx, gq, gk, gv, all);
  expect(Object.keys(results).sort()).toEqual(Object.keys(exact).sort());
  const [o, lse, amaxO] = await Promise.all(
    [results.o, results.lse, results.amaxO as GpuTensor].map(t => ctx.download(t)),
  );
  expect(Math.max(...errors(lse, exact.lse))).toBeLessThan(2e-5);
  /*
   * P is rounded relative to the largest score so far instead of the row's. Each of the two roundings has a
   * relative error of half a unit in the last place or, below the normal numbers, an error of half the
   * smallest number, divided by 16. Over a row, these add up to at most unit · Σ p|v| + Skv · smallest / 16 ·
   * |v|; but errors of opposite sign cancel, and most elements are much more accurate.
   */
  const [unit, smallest] = dtype === 'f8e4m3' ? [2 ** -3, 2 ** -9] : [2 ** -2, 2 ** -16];
  const z = 'dropout' in one.options ? 4 / 3 : 1;
  const largestV = largest(
    dequantiseMxfp8({ values: v, scales: mxfp8.descaleV }, { along: 'positions', layout }),
  );
  const bound = (unit + (one.shape.Skv * smallest) / 16) * largestV * z;
  const off = errors(o, exact.o);
  expect(Math.max(...off)).toBeLessThan(bound);
  expect(off.filter(e => e > bound / 5).length / off.length).toBeLessThan(0.05);
  expect(largest(amaxO)).toBeCloseTo(largest(o), 6);

  const inputs = { q, k, v, o: exact.o, lse: exact.lse, dO };
  const { dCaptures: _none, ...want } = exactSdpaBackward(inputs, all);
  const run = async (): Promise<Record<string, Tensor>> => {
    const [go, glse] = [exact.o, exact.lse].map(t => ctx.upload(t));
    const gradients = sdpaBackward(ctx, { q: gq, k: gk, v: gv, o: go, lse: glse, dO: gdO }, all);
    const downloaded: Record<string, Tensor> = {};
    for (const [name, t] of Object.entries(gradients)) downloaded[name] = await ctx.download(t as GpuTensor);
    return downloaded;
  };
  const got = await run();
  expect(Object.keys(got).sort()).toEqual(Object.keys(want).sort());
  // P is computed from the same lse, and blocks of dS start at the same positions as in the reference, so
  // only a few values round the other way.
  const dS = largest(want.amaxDP as Tensor);
  for (const [name, t] of Object.entries(want)) {
    const mine = errors(got[name], t as Tensor);
    const tight = 4e-5 * Math.max(1, largest(t as Tensor));
    const flip = unit * (name.toLowerCase().endsWith('dv') ? z * largest(dO) : dS * 4);
    expect(Math.max(...mine), `${name}, largest error`).toBeLessThan(tight + 2 * flip);
    expect(mine.filter(e => e > tight).length / mine.length, `${name}, share`).toBeLessThan(0.15);
  }
  expect(await run()).toEqual(got);
});

test('operands and scales on the host or in the middle of a buffer give the same', async () => {
  const ctx = await sharedContext();
  const { q, k, v, mxfp8 } = mxfp8Call<Tensor>(
    { B: 1, Hq: 1, Hk: 1, Sq: 5, Skv: 40, D: 8 },
    {
      normal: (shape, seed) => normal(shape, seed),
      quantise: (t, along) => quantiseMxfp8(t, { along }),
    },
  );
  const scales = withKernels({
    descaleQ: mxfp8.descaleQ,
    descaleK: mxfp8.descaleK,
    descaleV: mxfp8.descaleV,
  });
  const inMiddle = (t: Tensor): GpuTensor => {
    const bytes = new Uint8Array(t.size + 3);
    bytes.set(t.contiguous().data, 3);
    const whole = ctx.upload(Tensor.wrap(bytes, { dtype: 'u8', shape: [bytes.length] }));
    const { dtype, shape } = t;
    return ctx.wrap(whole.buffer, { dtype, shape, offset: 3 });
  };
  const [gq, gk, gv] = [q, k, v].map(t => ctx.upload(t));
  const one = await ctx.download(sdpa(ctx, gq, gk, gv, { mxfp8: scales }).o);
  const moved = withKernels({
    descaleQ: inMiddle(scales.descaleQ),
    descaleK: inMiddle(scales.descaleK),
    descaleV: inMiddle(scales.descaleV),
  });
  const other = await ctx.download(sdpa(ctx, inMiddle(q), inMiddle(k), inMiddle(v), { mxfp8: moved }).o);
  expect([one.dtype, other]).toEqual(['bf16', one]);
});

/** A tensor of one head, row by row. */
const rowsOf = (S: number, D: number, value: (s: number, d: number) => number): Tensor =>
  Tensor.from(
    Array.from({ length: S * D }, (_, n) => value(Math.floor(n / D), n % D)),
    [1, 1, S, D],
  );

test('P is rounded times 16', async () => {
  const ctx = await sharedContext();
  // Three keys with the scores 2, 1 and −6: 16·e^-8 is close to 3 · 2^-9.
  const scores = [2, 1, -6];
  const [q, k] = [rowsOf(1, 1, () => 1), rowsOf(3, 1, s => scores[s])].map(t => quantiseMxfp8(t));
  const v = quantiseMxfp8(
    rowsOf(3, 1, s => 2 ** s),
    { along: 'positions' },
  );
  const mxfp8 = withKernels({ descaleQ: q.scales, descaleK: k.scales, descaleV: v.scales });
  const [gq, gk, gv] = [q, k, v].map(({ values }) => ctx.upload(values));
  const { o } = sdpa(ctx, gq, gk, gv, { mxfp8, outDType: 'f32' });
  const exact = exactSdpa(q.values, k.values, v.values, { mxfp8, outDType: 'f32' });
  expect(errors(await ctx.download(o), exact.o)[0]).toBeLessThan(1e-6);
  const unscaled = (1 + 2 * 0.375) / (1 + Math.exp(-1) + Math.exp(-8));
  expect(Math.abs(exact.o.get(0, 0, 0, 0) - unscaled)).toBeGreaterThan(1e-4);
});

test('dS is rounded in blocks of keys for dq, and in blocks of queries for dk', async () => {
  const ctx = await sharedContext();
  const [S, D] = [32, 4];
  const both = (t: Tensor) => [quantiseMxfp8(t), quantiseMxfp8(t, { along: 'positions' })] as const;
  const [q8, qT] = both(rowsOf(S, D, (_, d) => Number(d === 0)));
  // All queries give the first key e^20 times the weight of the other keys, whose dS is then too small for
  // any scale that they share with the first key.
  const [k8] = both(rowsOf(S, D, (s, d) => 20 * Number(s === 0 && d === 0)));
  // The first key contributes nothing to dq, so that the contributions of the other keys can be tested.
  const [, kT] = both(rowsOf(S, D, s => Number(s > 0)));
  const [, v8] = both(rowsOf(S, D, (s, d) => 1 + ((s + d) % 3)));
  const [dO8, dOT] = both(rowsOf(S, D, () => 1));
  const mxfp8 = withKernels({
    ...{ descaleQ: q8.scales, descaleK: k8.scales, descaleV: v8.scales },
    ...{ qT: qT.values, descaleQT: qT.scales, kT: kT.values, descaleKT: kT.scales },
    ...{ dO8: dO8.values, descaleDO: dO8.scales, dOT: dOT.values, descaleDOT: dOT.scales },
  });
  const options = { mxfp8, scale: 1, gradDType: 'f32' } as const;
  const [q, k, v] = [q8.values, k8.values, v8.values];
  const { o, lse } = exactSdpa(q, k, v, options);
  const inputs = { q, k, v, o, lse, dO: Tensor.zeros([1, 1, S, D]) };
  const exact = exactSdpaBackward(inputs, options);
  const [gq, gk, gv, go, glse, gdO] = [q, k, v, o, lse, inputs.dO].map(t => ctx.upload(t));
  const got = sdpaBackward(ctx, { q: gq, k: gk, v: gv, o: go, lse: glse, dO: gdO }, options);
  expect(largest(exact.dq)).toBe(0);
  expect(largest(await ctx.download(got.dq))).toBe(0);
  const [dk, wanted] = [await ctx.download(got.dk), exact.dk].map(t => t.slice(2, 1, S));
  expect(largest(wanted)).toBeGreaterThan(0);
  expect(Math.max(...errors(dk, wanted))).toBeLessThan(1e-3 * largest(wanted));
});

test.each([[['dk']], [['dq', 'dv']]] as const)(
  'the gradients %j alone are the same as among all gradients',
  async wanted => {
    const ctx = await sharedContext();
    const call = mxfp8Call<Tensor>(
      { B: 1, Hq: 2, Hk: 1, Sq: 40, Skv: 40, D: 8 },
      {
        normal: (shape, seed) => normal(shape, seed),
        quantise: (t, along) => quantiseMxfp8(t, { along }),
      },
    );
    const { q, k, v, dO } = call;
    const options = { mxfp8: withKernels(call.mxfp8), gradDType: 'f32' } as const;
    const { o, lse } = exactSdpa(q, k, v, options);
    const [gq, gk, gv, go, glse, gdO] = [q, k, v, o, lse, dO].map(t => ctx.upload(t));
    const inputs = { q: gq, k: gk, v: gv, o: go, lse: glse, dO: gdO };
    const all = sdpaBackward(ctx, inputs, options);
    const some = sdpaBackward(ctx, inputs, { ...options, gradients: [...wanted] });
    for (const name of wanted) expect(await ctx.download(some[name])).toEqual(await ctx.download(all[name]));
  },
);
