import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { callersDevice } from '../../testing/device-buffers.ts';
import { createContext, planSdpa, planSdpaBackward, sdpa, sdpaBackward, webgpuEngine } from '../index.ts';

const host = Tensor.zeros([1, 1, 8, 8]);
const lse = Tensor.zeros([1, 1, 8]);

/**
 * A device of its own, on which nothing is compiled, and the kernels that it compiles on the calling thread.
 */
async function freshDevice(): Promise<{ device: GPUDevice; blocking: string[] }> {
  const device = await callersDevice();
  const blocking: string[] = [];
  const compile = device.createComputePipeline.bind(device);
  device.createComputePipeline = descriptor => {
    blocking.push(descriptor.label ?? '');
    return compile(descriptor);
  };
  return { device, blocking };
}

test('the promises of an engine wait for the compiler without blocking', async () => {
  const { device, blocking } = await freshDevice();
  const ctx = await createContext({ device });
  const engine = webgpuEngine(ctx);
  const q = engine.upload(host);
  const { o, lse } = await engine.sdpa(q, q, q);
  const { dq } = await engine.sdpaBackward({ q, k: q, v: q, o, lse, dO: q });
  expect((await engine.download(dq)).shape).toEqual([1, 1, 8, 8]);
  expect(blocking).toEqual([]);
  ctx.destroy();
  device.destroy();
});

test('an engine runs what is compiled at once, so that its inputs may be destroyed', async () => {
  const { device } = await freshDevice();
  const ctx = await createContext({ device });
  const engine = webgpuEngine(ctx);
  const q = engine.upload(host);
  await engine.sdpa(q, q, q);
  const second = engine.sdpa(q, q, q);
  engine.release(q);
  expect((await engine.download((await second).o)).shape).toEqual([1, 1, 8, 8]);
  ctx.destroy();
  device.destroy();
});

test('an eager call on kernels that plans have warmed up compiles nothing', async () => {
  const { device, blocking } = await freshDevice();
  const ctx = await createContext({ device });
  const forward = planSdpa(ctx, normalise({ q: host, k: host, v: host }).problem);
  const inputs = { q: host, k: host, v: host, o: host, lse, dO: host };
  const backward = planSdpaBackward(ctx, normaliseBackward(inputs).problem);
  expect([forward.isCompiled, backward.isCompiled]).toEqual([false, false]);
  await Promise.all([forward.warmUp(), backward.warmUp()]);
  expect([forward.isCompiled, backward.isCompiled]).toEqual([true, true]);
  const q = ctx.upload(host);
  const { o, lse: stats } = sdpa(ctx, q, q, q);
  sdpaBackward(ctx, { q, k: q, v: q, o, lse: stats, dO: q });
  expect(blocking).toEqual([]);
  ctx.destroy();
  device.destroy();
});
