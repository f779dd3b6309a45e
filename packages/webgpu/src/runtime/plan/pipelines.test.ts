import { normalise, Tensor, TilewiseError } from '@tilewise/core';
import { expect, test, vi } from 'vitest';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import { createContext, planSdpa } from '../../index.ts';

const t = Tensor.zeros([1, 1, 40, 8]);
const { problem } = normalise({ q: t, k: t, v: t });

test('plans that warm up at the same time compile a kernel once', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const compiled = vi.spyOn(ctx.device, 'createComputePipelineAsync');
  const [first, second] = [planSdpa(ctx, problem), planSdpa(ctx, problem)];
  await Promise.all([first.warmUp(), second.warmUp(), first.warmUp()]);
  await second.warmUp();
  expect(compiled).toHaveBeenCalledTimes(1);
  ctx.device.destroy();
});

test('a kernel that the device does not compile rejects with a typed error, and may be tried again', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const plan = planSdpa(ctx, problem);
  const cause = new Error('no pipeline today');
  vi.spyOn(ctx.device, 'createComputePipelineAsync').mockRejectedValueOnce(cause);
  const error: unknown = await plan.warmUp().catch((e: unknown) => e);
  expect(error).toBeInstanceOf(TilewiseError);
  expect(error).toMatchObject({ code: 'UNSUPPORTED', cause });
  expect(String(error)).toMatch(/'attention forward'.*no pipeline today/);
  await expect(plan.warmUp()).resolves.toBeUndefined();
  ctx.device.destroy();
});
