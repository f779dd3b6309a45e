import type { Tensor } from '@tilewise/core';
import * as reference from '@tilewise/core/reference';
import { beforeAll, expect, test } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { type GpuContext, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
beforeAll(async () => {
  ctx = await sharedContext();
});

const largestDifference = (actual: Tensor, expected: Tensor): number => {
  const want = expected.toFloat64();
  return Math.max(...actual.toFloat64().map((x, n) => Math.abs(x - (want[n] ?? 0))));
};

test('a call like an earlier one computes with its own tensors and options', async () => {
  for (const seed of [1, 2]) {
    const host = normal([1, 2, 9, 8], seed);
    const q = ctx.upload(host);
    for (const options of [{}, { causal: true }, { causal: true, scale: 0.5 }]) {
      const expected = reference.sdpa(host, host, host, options);
      const { o, lse } = sdpa(ctx, q, q, q, options);
      expect(largestDifference(await ctx.download(o), expected.o)).toBeLessThan(1e-5);
      const inputs = { q: host, k: host, v: host, o: expected.o, lse: expected.lse, dO: host };
      const { dq } = sdpaBackward(ctx, { q, k: q, v: q, o, lse, dO: q }, options);
      const wanted = reference.sdpaBackward(inputs, options).dq;
      expect(largestDifference(await ctx.download(dq), wanted)).toBeLessThan(1e-4);
    }
  }
});

test('an earlier valid call does not make an invalid call valid', () => {
  const host = normal([1, 2, 9, 8], 3);
  const q = ctx.upload(host);
  sdpa(ctx, q, q, q);
  expect(() => sdpa(ctx, host as never, q, q)).toThrow('q must be a GpuTensor');
  expect(() => sdpa(ctx, q, q, q, null as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
  expect(() => sdpa(ctx, q, q, q, { scale: Number.NaN })).toThrow('scale');
  const released = ctx.upload(host);
  released.destroy();
  expect(() => sdpa(ctx, released, q, q)).toThrow('was destroyed');
});
