import { normalise } from '@tilewise/core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GoodCall, goodCall, q, shape } from '../../testing/attention/good-call.ts';
import { callersDevice, storageBuffer } from '../../testing/device/device-buffers.ts';
import { caught } from '../../testing/expect-error.ts';
import { createContext, type GpuContext, planSdpa, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
let gpu: GoodCall['gpu'];
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, gpu, expectIntact } = await goodCall());
});
afterEach(() => expectIntact());

describe('an error of the GPU makes the download reject', () => {
  test('a buffer of another device', async () => {
    const device = await callersDevice();
    const foreign = ctx.wrap(storageBuffer(device, 4 * 640), { dtype: 'f32', shape });
    const { o, lse } = sdpa(ctx, gpu.q, foreign, gpu.v);
    for (const result of [o, lse, foreign])
      await expect(ctx.download(result)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const { dq } = sdpaBackward(ctx, { ...gpu, o, lse }, { gradients: ['dq'] });
    await expect(ctx.download(dq), 'what is computed from it').rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    device.destroy();
  });

  test('a buffer that was destroyed', async () => {
    const buffer = storageBuffer(ctx.device, 4 * 640);
    const wrapped = ctx.wrap(buffer, { dtype: 'f32', shape });
    buffer.destroy();
    const { o } = sdpa(ctx, gpu.q, wrapped, gpu.v);
    await expect(ctx.download(o)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('more memory than available', async () => {
    const most = ctx.device.limits.maxBufferSize;
    const huge = ctx.allocate([Math.floor(most / 4) + 4], 'f32');
    expect(await huge.fault).toMatchObject({ code: 'OUT_OF_MEMORY' });
    const uncaptured: string[] = [];
    const listen = (event: GPUUncapturedErrorEvent): void => void uncaptured.push(event.error.message);
    ctx.device.addEventListener('uncapturederror', listen);
    await expect(ctx.download(huge)).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    await ctx.device.queue.onSubmittedWorkDone();
    ctx.device.removeEventListener('uncapturederror', listen);
    expect(uncaptured).toEqual([]);
    huge.destroy();
    ctx.trim();
  });

  test('a lost device', async () => {
    const device = await callersDevice();
    const lost = await createContext({ device });
    const tensor = lost.upload(q);
    device.destroy();
    await device.lost;
    await expect(lost.download(tensor)).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    expect(caught(() => sdpa(lost, tensor, tensor, tensor))).toMatchObject({
      code: 'DEVICE_LOST',
      message: expect.stringMatching(/^the GPU device was lost \(destroyed\): make a new context\. ./),
    });
  });

  test('a device that is lost while kernels are compiled', async () => {
    const device = await callersDevice();
    const lost = await createContext({ device });
    const plan = planSdpa(lost, normalise({ q, k: q, v: q }).problem);
    device.destroy();
    await expect(plan.warmUp()).rejects.toMatchObject({ code: 'DEVICE_LOST' });
  });
});
