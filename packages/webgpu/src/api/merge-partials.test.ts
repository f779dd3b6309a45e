import { mergePartials as hostMerge, type PartialAttention, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { type GpuTensor, mergePartials, sdpa } from '../index.ts';

async function merged(parts: readonly PartialAttention[]): Promise<PartialAttention> {
  const ctx = await sharedContext();
  const { o, lse } = mergePartials(
    ctx,
    parts.map(part => ({ o: ctx.upload(part.o), lse: ctx.upload(part.lse) })),
  );
  return { o: await ctx.download(o), lse: await ctx.download(lse) };
}

test('attention over parts of the keys, merged, is attention over all of them', async () => {
  const ctx = await sharedContext();
  const q = normal([2, 4, 5, 8], 1);
  const [k, v] = [2, 3].map(seed => normal([2, 2, 40, 8], seed));
  const tensors = [q, k, v].map(t => ctx.upload(t));
  const [gq] = tensors;
  // Ring attention in three steps; the sink belongs to one of the steps.
  const parts = [
    [0, 13],
    [13, 14],
    [14, 40],
  ].map(([from, to], n) => {
    const [gk, gv] = [k, v].map(t => ctx.upload(t.slice(2, from, to).contiguous()));
    return sdpa(ctx, gq, gk, gv, n === 1 ? { sink: [1, 2, 3, -4] } : {});
  });
  const { o, lse } = mergePartials(ctx, parts);
  const exact = exactSdpa(q, k, v, { sink: [1, 2, 3, -4] });
  expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
});

test('packed parts, in another order and in half precision, merge as on the host', async () => {
  const dtype = 'f16';
  const part = (seed: number): PartialAttention => ({
    // Tokens are adjacent, and heads are far apart.
    o: Tensor.from(normal([9, 4, 7], seed).toFloat32(), [9, 4, 7], { dtype, strides: [7, 70, 1] }),
    lse: normal([4, 9], seed + 10),
  });
  const parts = [1, 2, 3, 4].map(part);
  expectAgreement({ ...(await merged(parts)) }, { ...hostMerge(parts) });
});

test('a part without keys changes nothing, and rows without any are fully masked', async () => {
  const dead = {
    o: Tensor.from([Number.NaN, 3, 4, 5], [1, 1, 2, 2]),
    lse: Tensor.from([-Infinity, -Infinity], [1, 1, 2]),
  };
  const half = { o: Tensor.from([1, 2, 3, 4], [1, 1, 2, 2]), lse: Tensor.from([-5, -Infinity], [1, 1, 2]) };
  const { o, lse } = await merged([dead, half, dead]);
  expect([...o.toFloat32()]).toEqual([1, 2, 0, 0]);
  expect([...lse.toFloat32()]).toEqual([-5, -Infinity]);
});

test('parts that do not fit together are named', async () => {
  const ctx = await sharedContext();
  const o = ctx.upload(normal([1, 2, 3, 4], 1));
  const lse = ctx.upload(normal([1, 2, 3], 1));
  const strided: GpuTensor = ctx.wrap(o.buffer, { dtype: 'f32', shape: [1, 2, 3], strides: [12, 4, 1] });
  expect(() => mergePartials(ctx, [])).toThrow(/^parts must hold at least one part/);
  expect(() =>
    mergePartials(ctx, [
      { o, lse },
      { o, lse: o },
    ]),
  ).toThrow(/^parts\[1\]\.lse must have shape/);
  expect(() => mergePartials(ctx, [{ o, lse: strided }])).toThrow(/parts\[0\]\.lse must be contiguous/);
});
