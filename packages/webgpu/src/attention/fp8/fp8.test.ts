import { Tensor, toPages } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { errorOf } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { type AttentionCall, normal } from '../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type GpuTensor, sdpa, sdpaBackward, sdpaVjp, webgpuEngine } from '../../index.ts';
import { fp8 as withKernels } from '../../subpaths/fp8.ts';

const fp8 = withKernels({
  ...{ descaleQ: 0.5, descaleK: 1.5, descaleV: 0.75, descaleO: 1 / 3, descaleDO: 1.25 },
  ...{ scaleS: 200, descaleS: 1 / 200, scaleDP: 20, descaleDP: 1 / 20 },
  ...{ scaleO: 3, scaleDQ: 0.5, scaleDK: 2, scaleDV: 5 },
});
const outputs = { amaxS: true, amaxO: true, amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true };

/** The calls that run on each tile. Few are needed, because kernels depend only on the first two factors. */
const calls: Readonly<Record<string, AttentionCall>> = {
  'f8e4m3, two tiles, heads shared': {
    q: normal([1, 4, 37, 8], 1, 'f8e4m3'),
    k: normal([1, 2, 41, 8], 2, 'f8e4m3'),
    v: normal([1, 2, 41, 12], 3, 'f8e4m3'),
    dO: normal([1, 4, 37, 12], 4, 'f8e4m3'),
    options: { causal: 'bottom-right', sink: [0.5, -1, 0, 1] },
  },
  'f8e5m2, lengths, dropout, odd head sizes': {
    q: normal([2, 2, 13, 9], 5, 'f8e5m2'),
    k: normal([2, 2, 21, 9], 6, 'f8e5m2'),
    v: normal([2, 2, 21, 6], 7, 'f8e5m2'),
    dO: normal([2, 2, 13, 6], 8, 'f8e5m2'),
    options: {
      seqLensQ: [13, 9],
      seqLensKv: [21, 8],
      softcap: 4,
      dropout: { p: 0.25, seed: 3 },
    },
  },
};

const step = { f8e4m3: 2 ** -3, f8e5m2: 2 ** -2, f32: 0 } as const;
const stepOf = (t: Tensor): number => step[t.dtype as keyof typeof step];
const largest = (t: Tensor): number => t.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/**
 * P and dS of two engines differ by rounding in f32, so a few of them round to the other neighbour in 8 bits.
 * Therefore most elements of a result agree as closely as unrounded products do, and no element is off by
 * more than two such steps: 2^-m of the largest weight, times the largest element that it multiplies
 * (`flip`).
 */
function expectAgreement(got: Tensor, want: Tensor, name: string, flip: number): void {
  expect([got.shape, got.dtype], name).toEqual([want.shape, want.dtype]);
  const [a, b] = [got.toFloat64(), want.toFloat64()];
  const M = b.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const tight = M * (4e-5 + stepOf(want));
  expect(errorOf(a, b).max, `${name}, largest error`).toBeLessThanOrEqual(tight + 2 * flip);
  const off = a.filter((x, n) => !(Object.is(x, b[n]) || Math.abs(x - b[n]) <= tight)).length;
  expect(off / a.length, `${name}, share of elements behind another rounding`).toBeLessThan(0.1);
}

async function downloaded(ctx: Awaited<ReturnType<typeof sharedContext>>, results: object) {
  const all: Record<string, Tensor> = {};
  for (const [name, t] of Object.entries(results)) {
    if (t) all[name] = await ctx.download(t as GpuTensor);
  }
  return all;
}

describe.each(Object.entries(calls))('FP8 agrees with the reference: %s', (_, { q, k, v, dO, options }) => {
  const all = { ...options, fp8, outputs } as const;
  const unit = stepOf(q);

  test.each([undefined, 'f32'] as const)('forward, o stored as %s', async outDType => {
    const ctx = await sharedContext();
    const [gq, gk, gv] = [q, k, v].map(t => ctx.upload(t));
    const exact = exactSdpa(q, k, v, { ...all, outDType });
    const got = await downloaded(ctx, sdpa(ctx, gq, gk, gv, { ...all, outDType }));
    expect(Object.keys(got).sort()).toEqual(Object.keys(exact).sort());
    const flip = unit * largest(v) * fp8.descaleV * fp8.scaleO;
    for (const [name, want] of Object.entries(exact))
      expectAgreement(got[name], want, name, name === 'lse' || name === 'amaxS' ? 0 : flip);
  });

  test.each([undefined, 'f32'] as const)('backward, gradients stored as %s', async gradDType => {
    const ctx = await sharedContext();
    const { o, lse } = exactSdpa(q, k, v, all);
    const inputs = { q, k, v, o, lse, dO };
    const { dCaptures: _none, ...exact } = exactSdpaBackward(inputs, { ...all, gradDType });
    const [gq, gk, gv, go, glse, gdO] = [q, k, v, o, lse, dO].map(t => ctx.upload(t));
    const gpuInputs = { q: gq, k: gk, v: gv, o: go, lse: glse, dO: gdO };
    const got = await downloaded(ctx, sdpaBackward(ctx, gpuInputs, { ...all, gradDType }));
    expect(Object.keys(got).sort()).toEqual(Object.keys(exact).sort());
    const dS = largest(exact.amaxDP ?? o);
    const P = options?.dropout ? 4 / 3 : 1;
    const flips: Readonly<Record<string, number>> = {
      dq: unit * dS * largest(k) * fp8.descaleK * fp8.scaleDQ,
      dk: unit * dS * largest(q) * fp8.descaleQ * fp8.scaleDK,
      dv: unit * P * largest(dO) * fp8.descaleDO * fp8.scaleDV,
      amaxDQ: unit * dS * largest(k) * fp8.descaleK,
      amaxDK: unit * dS * largest(q) * fp8.descaleQ,
      amaxDV: unit * P * largest(dO) * fp8.descaleDO,
    };
    for (const [name, want] of Object.entries(exact))
      expectAgreement(got[name], want as Tensor, name, flips[name] ?? 0);
  });
});

test('scalars may be on the GPU, and largest values are those of this call alone', async () => {
  const ctx = await sharedContext();
  const { q, k, v } = calls['f8e4m3, two tiles, heads shared'];
  const [gq, gk, gv] = [q, k, v].map(t => ctx.upload(t));
  const some = { ...fp8, scaleO: ctx.upload(Tensor.from([fp8.scaleO], [1, 1, 1, 1])) };
  const options = { outputs: { amaxO: true } };
  const numbers = await downloaded(ctx, sdpa(ctx, gq, gk, gv, { ...options, fp8 }));
  const large = sdpa(ctx, gq, gk, gv, { ...options, fp8: { ...fp8, descaleV: 100 } });
  const scalars = await downloaded(ctx, sdpa(ctx, gq, gk, gv, { ...options, fp8: some }));
  expect(scalars).toEqual(numbers);
  expect(largest(await ctx.download(large.amaxO as GpuTensor))).toBeGreaterThan(50 * largest(numbers.amaxO));
});

test('a scalar in a buffer without COPY_SRC is refused by its name', async () => {
  const ctx = await sharedContext();
  const q = ctx.upload(normal([1, 1, 4, 8], 1, 'f8e4m3'));
  const buffer = ctx.device.createBuffer({ size: 16, usage: 0x80 }); // STORAGE
  const descaleV = ctx.wrap(buffer, { dtype: 'f32', shape: [1] });
  expect(() => sdpa(ctx, q, q, q, { fp8: withKernels({ descaleV }) })).toThrow(
    'fp8.descaleV must be in a buffer with the usage COPY_SRC',
  );
  buffer.destroy();
});

test('two runs of backward give the same bits', async () => {
  const ctx = await sharedContext();
  const { q, k, v, dO, options } = calls['f8e4m3, two tiles, heads shared'];
  const all = { ...options, fp8, outputs, gradDType: 'f32' } as const;
  const { o, lse } = exactSdpa(q, k, v, all);
  const [gq, gk, gv, go, glse, gdO] = [q, k, v, o, lse, dO].map(t => ctx.upload(t));
  const run = () =>
    downloaded(ctx, sdpaBackward(ctx, { q: gq, k: gk, v: gv, o: go, lse: glse, dO: gdO }, all));
  expect(await run()).toEqual(await run());
});

test('paged keys and values compose with FP8', async () => {
  const ctx = await sharedContext();
  const q = normal([2, 2, 5, 8], 1, 'f8e4m3');
  const [k, v] = [2, 3].map(seed => normal([2, 1, 16, 8], seed, 'f8e4m3'));
  const options = { fp8, seqLensKv: [16, 7], outDType: 'f32' } as const;
  const [pagedK, pagedV] = [toPages(k, 4), toPages(v, 8)];
  const tables = { pageTableK: pagedK.table, pageTableV: pagedV.table };
  const [gq, gk, gv] = [q, pagedK.container, pagedV.container].map(t => ctx.upload(t));
  const { o } = sdpa(ctx, gq, gk, gv, { ...options, ...tables });
  expectAgreement(await ctx.download(o), exactSdpa(q, k, v, options).o, 'o', largest(v) / 8);
});

test('an option without kernels is refused by eager calls and accepted by an engine', async () => {
  const ctx = await sharedContext();
  const { q, k, v } = calls['f8e4m3, two tiles, heads shared'];
  const [gq, gk, gv] = [q, k, v].map(t => ctx.upload(t));
  const plain = { fp8: { descaleQ: 0.5 } };
  const rule = "fp8 must be made by fp8() of '@tilewise/webgpu/fp8'";
  expect(() => sdpa(ctx, gq, gk, gv, plain)).toThrow(rule);
  expect(() => sdpaVjp(ctx, gq, gk, gv, plain)).toThrow(rule);
  const { o } = await webgpuEngine(ctx).sdpa(gq, gk, gv, plain);
  const brought = sdpa(ctx, gq, gk, gv, { fp8: withKernels(plain.fp8) });
  expect((await ctx.download(o)).data).toEqual((await ctx.download(brought.o)).data);
});

test.each(['u8', 'f8e5m2'] as const)('P in %s of f32 operands agrees with the reference', async dtype => {
  const ctx = await sharedContext();
  const [q, k, v] = [
    normal([1, 2, 19, 8], 1, 'f32'),
    normal([1, 1, 23, 8], 2, 'f32'),
    normal([1, 2, 23, 8], 3, 'f32'),
  ];
  const formatP = { dtype, zeroPoint: dtype === 'u8' ? 7 : 0 };
  const options = { causal: true, fp8: withKernels({ scaleS: 200, descaleS: 1 / 200, formatP }) };
  const { o } = await downloaded(ctx, sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options));
  const flip = largest(v) * (dtype === 'u8' ? 1 / 200 : 2 ** -2);
  expectAgreement(o, exactSdpa(q, k, v, options).o, 'o', flip);
});
