import { fromBhsd, splitQkv, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuForward, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { bitsOf, expectAgreement, expectSameBits } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type GpuTensor, sdpa, sdpaBackward } from '../../index.ts';

const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([2, 4, 40, 8], seed));
const call = { q, k, v, dO, options: { causal: true } };

test('tensors in BSHD order give the bits of those in BHSD order', async () => {
  const ctx = await sharedContext();
  const expected = await gpuResults(ctx, call);
  const bshd = (t: Tensor): Tensor => fromBhsd(t, 'bshd').contiguous().permute(0, 2, 1, 3);
  const got = await gpuResults(ctx, { ...call, q: bshd(q), k: bshd(k), v: bshd(v), dO: bshd(dO) });
  expectSameBits(got, expected);
});

test('a tensor on the GPU can be viewed in another order', async () => {
  const ctx = await sharedContext();
  const bshd = ctx.upload(q.permute(0, 2, 1, 3).contiguous());
  const seen = bshd.permute(0, 2, 1, 3);
  expect([seen.shape, seen.strides]).toEqual([q.shape, [1280, 8, 32, 1]]);
  const { o } = sdpa(ctx, seen, ctx.upload(k), ctx.upload(v), call.options);
  expectSameBits({ o: await ctx.download(o) }, { o: (await gpuForward(ctx, call)).o });
});

test('q, k and v may be parts of one buffer', async () => {
  const ctx = await sharedContext();
  const fused = normal([2, 40, 3, 4, 8], 5);
  const parts = splitQkv(fused, 'bs3hd');
  const buffer = ctx.upload(fused);
  const part = ({ shape, strides, offset }: Tensor): GpuTensor =>
    ctx.wrap(buffer.buffer, { dtype: 'f32', shape, strides, offset: 4 * offset });
  const { o, lse } = sdpa(ctx, part(parts.q), part(parts.k), part(parts.v));
  const exact = exactResults({ ...parts, dO });
  expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { o: exact.o, lse: exact.lse });
});

test('one head may stand for all, without a copy', async () => {
  const ctx = await sharedContext();
  const [k1, v1] = [k, v].map(t => t.slice(1, 0, 1));
  const expanded = { ...call, k: k1.expand(k.shape), v: v1.expand(v.shape) };
  expectAgreement(await gpuResults(ctx, expanded), exactResults(expanded));
});

test('keys and values may differ in their number of heads', async () => {
  const ctx = await sharedContext();
  const some = { ...call, k: k.slice(1, 0, 2), v: v.slice(1, 0, 1) };
  expectAgreement(await gpuResults(ctx, some), exactResults(some));
});

test('masks and biases are broadcast from any shape', async () => {
  const ctx = await sharedContext();
  const mask = normal([2, 1, 40, 1], 6)
    .toFloat32()
    .map(x => Number(x > -1));
  const options = {
    mask: Tensor.from(mask, [2, 1, 40, 1], { dtype: 'bool' }),
    bias: normal([40, 4], 7).permute(1, 0).reshape([4, 40]).slice(0, 0, 1),
    gradients: ['dq', 'dk', 'dv', 'dbias'],
  } as const;
  expectAgreement(await gpuResults(ctx, { ...call, options }), exactResults({ ...call, options }));
});

test('o may be stored in another dtype than q', async () => {
  const ctx = await sharedContext();
  const options = { ...call.options, outDType: 'f16' } as const;
  const { o } = await gpuForward(ctx, { ...call, options });
  expectAgreement({ o }, { o: exactResults({ ...call, options }).o });
  expect(o.dtype).toBe('f16');
});

test('lse, lengths, slopes and sinks that are not contiguous are never read silently as if they were', async () => {
  const ctx = await sharedContext();
  const [gq, gk, gv] = [q, k, v].map(t => ctx.upload(t));
  const scattered = (
    values: ArrayLike<number>,
    shape: readonly number[],
    strides: number[],
    dtype: 'f32' | 'i32' = 'f32',
  ) => Tensor.from(values, shape, { strides, dtype });
  const { o, lse } = exactResults(call);
  const given = { q: gq, k: gk, v: gv, o: ctx.upload(o), dO: ctx.upload(dO) };
  const strided = ctx.upload(scattered(lse.toFloat32(), lse.shape, [500, 3, 12]));
  expect(() => sdpaBackward(ctx, { ...given, lse: strided }, call.options)).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(/lse .*strides \[500,3,12\]/),
    }),
  );
  const sink = scattered([1, 2, 3, 4], [4], [2]);
  expect(() => sdpa(ctx, gq, gk, gv, { sink: ctx.upload(sink) })).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED' }),
  );
  // Strides are allowed here, because a host tensor is copied anyway.
  const bits = async (options: object) => bitsOf(await ctx.download(sdpa(ctx, gq, gk, gv, options).o));
  expect(await bits({ sink })).toEqual(await bits({ sink: [1, 2, 3, 4] }));
  const lengths = scattered([7, 20], [2], [5], 'i32');
  expect(await bits({ seqLensKv: lengths })).toEqual(await bits({ seqLensKv: [7, 20] }));
});
