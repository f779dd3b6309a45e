import { Tensor } from '@tilewise/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { call, intoEncoder, problemsOf, shape, slice } from '../../testing/attention/plan-calls.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { createContext, type GpuContext, planSdpa, planSdpaBackward, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
beforeEach(async () => {
  ctx = await createContext({ device: (await sharedContext()).device });
});

test('forward and backward take memory for their tensors and two floats per query, and none of the size of the scores', async () => {
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

test('freed memory is reused', async () => {
  const run = (): void => {
    const inputs = [1, 2, 3].map(seed => ctx.upload(normal([1, 2, 40, 8], seed)));
    const [q, k, v] = inputs;
    const { o, lse } = sdpa(ctx, q, k, v);
    for (const tensor of [...inputs, o, lse]) tensor.destroy();
  };
  run();
  await ctx.submitted();
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

test('memory does not grow with the number of different problems', async () => {
  const q = ctx.upload(normal([1, 1, 1, 8], 1));
  const run = (scale: number): number => {
    const { o, lse } = sdpa(ctx, q, q, q, { scale });
    for (const tensor of [o, lse]) tensor.destroy();
    return ctx.memory.current;
  };
  let held = run(0);
  await ctx.submitted();
  for (let n = 1; n < 256; n++) held = run(n);
  for (let n = 256; n < 300; n++) expect(run(n)).toBe(held);
  ctx.destroy();
});

describe('memory', () => {
  test('the workspace holds two floats per query', () => {
    for (const [S, D] of [
      [64, 8],
      [128, 8],
      [128, 64],
    ]) {
      const q = Tensor.zeros([2, 3, S, D]);
      const { forward, backward } = problemsOf({}, { q, k: q, v: q, dO: q });
      expect(planSdpa(ctx, forward).workspaceBytes).toBe(0);
      expect(planSdpaBackward(ctx, backward).workspaceBytes).toBe(2 * 4 * 2 * 3 * S);
    }
  });

  test('no tensor of a plan has a byte per query and key', () => {
    const S = 4096;
    const q = Tensor.zeros([1, 1, S, 8]);
    const { forward, backward } = problemsOf({ causal: true }, { q, k: q, v: q, dO: q });
    const tensors = [...planSdpa(ctx, forward).tensors, ...planSdpaBackward(ctx, backward).tensors];
    for (const { name, bytes } of tensors) expect(bytes, name).toBeLessThanOrEqual(4 * S * 8);
  });

  test('parameters of recorded calls are freed by the plan', () => {
    const plan = planSdpa(ctx, problemsOf({ dropout: { p: 0.5, seed: 1 } }).forward);
    const operands = {
      q: slice(ctx.device, call.q),
      k: slice(ctx.device, call.k),
      v: slice(ctx.device, call.v),
    };
    const buffers = {
      ...operands,
      o: slice(ctx.device, call.q),
      lse: slice(ctx.device, Tensor.zeros(shape.slice(0, 3))),
    };
    const before = ctx.memory.current;
    for (let n = 0; n < 3; n++) intoEncoder(ctx.device, plan, buffers, { offset: [n, 0] });
    const recorded = ctx.memory.current - before;
    expect(recorded).toBeGreaterThan(0);
    intoEncoder(ctx.device, plan, buffers, { offset: [2, 0] });
    expect(ctx.memory.current - before, 'the same numbers again').toBe(recorded);
    plan.retire();
    expect(ctx.memory.current - before).toBe(recorded / 3);
    plan.destroy();
    expect(ctx.memory.current).toBe(before);
  });
});
