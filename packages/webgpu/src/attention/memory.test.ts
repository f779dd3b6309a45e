import { Tensor } from '@tilewise/core';
import { beforeEach, expect, test } from 'vitest';
import { normal } from '../../testing/attention-call.ts';
import { sharedContext } from '../../testing/shared-context.ts';
import { createContext, type GpuContext, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
beforeEach(async () => {
  ctx = await createContext({ device: (await sharedContext()).device });
});

test('forward and backward hold their tensors, two floats per query, and nothing of the size of the scores', async () => {
  const [S, D] = [1024, 64];
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => ctx.upload(normal([1, 1, S, D], seed)));
  const { o, lse } = sdpa(ctx, q, k, v);
  const { dv } = sdpaBackward(ctx, { q, k, v, o, lse, dO });
  await ctx.download(dv);
  const tensors = 4 * (8 * S * D + S);
  const workspace = 2 * 4 * S;
  const staging = 4 * S * D;
  const parameters = 4 * 1024;
  expect(ctx.memory.peak).toBeGreaterThanOrEqual(tensors + workspace);
  expect(ctx.memory.peak).toBeLessThanOrEqual(tensors + workspace + staging + parameters);
  expect(tensors + workspace + staging + parameters).toBeLessThan(4 * S * S);
  ctx.destroy();
  expect(ctx.memory.current).toBe(0);
});

test('what is given back is used again', () => {
  const run = (): void => {
    const inputs = [1, 2, 3].map(seed => ctx.upload(normal([1, 2, 40, 8], seed)));
    const [q, k, v] = inputs;
    const { o, lse } = sdpa(ctx, q, k, v);
    for (const tensor of [...inputs, o, lse]) tensor.destroy();
  };
  run();
  const { current } = ctx.memory;
  for (let n = 0; n < 5; n++) run();
  expect(ctx.memory.current).toBe(current);
  ctx.trim();
  expect(ctx.memory.current).toBeLessThan(current);
  ctx.destroy();
});

test('a call that fails keeps nothing', () => {
  const q = ctx.upload(normal([1, 2, 40, 513], 1));
  const mask = Tensor.zeros([40, 40], { dtype: 'bool' });
  const { current } = ctx.memory;
  for (let n = 0; n < 3; n++) {
    expect(() => sdpa(ctx, q, q, q, { mask })).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  }
  expect(ctx.memory.current).toBe(current);
  ctx.destroy();
});

test('ever new problems do not pile up', () => {
  const q = ctx.upload(normal([1, 1, 1, 8], 1));
  const run = (scale: number): number => {
    const { o, lse } = sdpa(ctx, q, q, q, { scale });
    for (const tensor of [o, lse]) tensor.destroy();
    return ctx.memory.current;
  };
  let held = 0;
  for (let n = 0; n < 256; n++) held = run(n);
  for (let n = 256; n < 300; n++) expect(run(n)).toBe(held);
  ctx.destroy();
});
