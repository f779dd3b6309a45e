import type { SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { beforeEach, expect, test } from 'vitest';
import { exactResults, gpuResults, normal, type Results } from '../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { createContext, type GpuContext, type GpuTensor, sdpaVjp } from '../index.ts';

let ctx: GpuContext;
beforeEach(async () => {
  ctx = await createContext({ device: (await sharedContext()).device });
});

const host = {
  q: normal([1, 4, 37, 8], 1),
  k: normal([1, 2, 41, 8], 2),
  v: normal([1, 2, 41, 8], 3),
  dO: normal([1, 4, 37, 8], 4),
};
const dLse = normal([1, 4, 37], 5);

const upload = (): Record<'q' | 'k' | 'v' | 'dO', GpuTensor> => ({
  q: ctx.upload(host.q),
  k: ctx.upload(host.k),
  v: ctx.upload(host.v),
  dO: ctx.upload(host.dO),
});

async function download(results: object): Promise<Results> {
  const downloaded: Record<string, Tensor> = {};
  for (const [name, value] of Object.entries(results))
    if (typeof value === 'object') downloaded[name] = await ctx.download(value);
  return downloaded;
}

test('forward and backward are those of sdpa and sdpaBackward', async () => {
  const options: SdpaBackwardOptions<Tensor> = { causal: true, dropout: { p: 0.2, seed: 5n } };
  const { q, k, v, dO } = upload();
  const vjp = sdpaVjp(ctx, q, k, v, options);
  const got = { ...(await download(vjp)), ...(await download(vjp.backward(dO))) };
  expectSameBits(got, await gpuResults(ctx, { ...host, options }));
  expectAgreement(got, exactResults({ ...host, options }));
  ctx.destroy();
});

test('gradients can be chosen, and lse may have its own gradient', async () => {
  const options = { gradients: ['dk', 'dsink'], sink: [0.5, -1, 2, 0] } as const;
  const { q, k, v, dO } = upload();
  const gradients = sdpaVjp(ctx, q, k, v, options).backward(dO, ctx.upload(dLse));
  expect(Object.keys(gradients).sort()).toEqual(['dk', 'dsink']);
  const exact = exactResults({ ...host, dLse, options: { ...options, gradients: ['dk', 'dsink'] } });
  expectAgreement(await download(gradients), { dk: exact.dk, dsink: exact.dsink });
  ctx.destroy();
});

test('backward may be called again, for another dO', async () => {
  const { q, k, v, dO } = upload();
  const vjp = sdpaVjp(ctx, q, k, v);
  const first = await download(vjp.backward(dO));
  const other = normal([1, 4, 37, 8], 9);
  const { o: _, lse: __, ...exact } = exactResults({ ...host, dO: other });
  expectAgreement(await download(vjp.backward(ctx.upload(other))), exact);
  expectSameBits(await download(vjp.backward(dO)), first);
  ctx.destroy();
});

test('optional results are returned, and backward does not need them', async () => {
  const { q, k, v, dO } = upload();
  const vjp = sdpaVjp(ctx, q, k, v, { outputs: { max: true, sumExp: true } });
  vjp.max?.destroy();
  vjp.sumExp?.destroy();
  const { dq } = vjp.backward(dO);
  expectAgreement({ dq: await ctx.download(dq) }, { dq: exactResults(host).dq });
  ctx.destroy();
});

test('release frees the results of forward, and ends backward', () => {
  const { q, k, v, dO } = upload();
  sdpaVjp(ctx, q, k, v).release();
  const { current } = ctx.memory;
  for (let n = 0; n < 3; n++) {
    const vjp = sdpaVjp(ctx, q, k, v);
    vjp.release();
    vjp.release();
    expect(() => vjp.backward(dO)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'backward' }),
    );
  }
  expect(ctx.memory.current).toBe(current);
  ctx.destroy();
});

test.each(['q', 'k', 'v', 'o', 'lse'] as const)('backward reports that %s was destroyed meanwhile', name => {
  const { dO, ...inputs } = upload();
  const vjp = sdpaVjp(ctx, inputs.q, inputs.k, inputs.v);
  ({ ...inputs, o: vjp.o, lse: vjp.lse })[name].destroy();
  expect(() => vjp.backward(dO)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: name, message: `${name} was destroyed` }),
  );
  ctx.destroy();
});

test('options that backward refuses are refused before forward runs', () => {
  const { q, k, v } = upload();
  const { current } = ctx.memory;
  expect(() => sdpaVjp(ctx, q, k, v, { gradients: ['dbias'] })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'gradients' }),
  );
  expect(ctx.memory.current).toBe(current);
  ctx.destroy();
});
