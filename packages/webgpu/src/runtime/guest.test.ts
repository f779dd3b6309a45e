import { normalise, Tensor, TilewiseError } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../testing/attention/expect-agreement.ts';
import { callersDevice, readBuffer, storageBuffer } from '../../testing/device/device-buffers.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { trackedDevice } from '../../testing/device/tracked-device.ts';
import { createContext, planSdpa, sdpa, sdpaBackward, sdpaVjp } from '../index.ts';

const call = {
  q: normal([1, 2, 33, 8], 1),
  k: normal([1, 2, 33, 8], 2),
  v: normal([1, 2, 33, 8], 3),
  dO: normal([1, 2, 33, 8], 4),
};

describe('several contexts', () => {
  test('on two devices do not disturb each other', async () => {
    const [one, two] = [
      await createContext({ device: await callersDevice() }),
      await createContext({ device: await callersDevice() }),
    ];
    const [first, second] = await Promise.all([gpuResults(one, call), gpuResults(two, call)]);
    expectSameBits(second, first);
    one.destroy();
    one.device.destroy();
    expectSameBits(await gpuResults(two, call), first);
    two.device.destroy();
  });

  test('on one device do not disturb each other', async () => {
    const { device } = await sharedContext();
    const [one, two] = [await createContext({ device }), await createContext({ device })];
    const other = { ...call, q: normal([1, 2, 33, 8], 9) };
    const [first, second] = await Promise.all([gpuResults(one, call), gpuResults(two, other)]);
    expectAgreement(first, exactResults(call));
    expectAgreement(second, exactResults(other));
    one.destroy();
    expectSameBits(await gpuResults(two, call), first);
    two.destroy();
  });

  test('many simultaneous calls have the results of single calls', async () => {
    const ctx = await createContext({ device: (await sharedContext()).device });
    const calls = Array.from({ length: 24 }, (_, n) => ({
      ...call,
      q: normal([1, 2, 33, 8], 20 + n),
      options: { causal: n % 2 === 0, dropout: { p: 0.25, seed: n } },
    }));
    const together = await Promise.all(calls.map(one => gpuResults(ctx, one)));
    for (const [n, one] of calls.entries()) expectSameBits(await gpuResults(ctx, one), together[n]);
    ctx.destroy();
  });
});

describe('ctx.destroy', () => {
  test('leaves no buffer on the device, and the device alive', async () => {
    const { device, live } = await trackedDevice();
    const ctx = await createContext({ device });
    const { problem } = normalise(call);
    const own = storageBuffer(device, Float32Array.of(1, 2, 3, 4));
    const [q, k, v, dO] = [call.q, call.k, call.v, call.dO].map(t => ctx.upload(t));
    const { o, lse } = sdpa(ctx, q, k, v, { bias: normal([33], 5), dropout: { p: 0.5, seed: 1 } });
    sdpaBackward(ctx, { q, k, v, o, lse, dO });
    const { backward } = sdpaVjp(ctx, q, k, v);
    await ctx.download(backward(dO).dq);
    const plan = planSdpa(ctx, problem);
    const buffers = Object.fromEntries(plan.tensors.map(({ name, bytes }) => [name, ctx.takeBuffer(bytes)]));
    plan.encode(device.createCommandEncoder(), buffers);
    ctx.wrap(own, { dtype: 'f32', shape: [4] });
    expect(live().length).toBeGreaterThan(8);
    ctx.destroy();
    expect(live()).toEqual(['']);
    expect(new Float32Array((await readBuffer(device, own)).buffer)).toEqual(Float32Array.of(1, 2, 3, 4));
    device.destroy();
  });

  test('makes a pending download reject, and later calls throw', async () => {
    const ctx = await createContext({ device: (await sharedContext()).device });
    const q = ctx.upload(call.q);
    const { o } = sdpa(ctx, q, q, q);
    const pending = ctx.download(o);
    ctx.destroy();
    await expect(pending).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', argument: 'ctx' });
    expect(() => sdpa(ctx, q, q, q)).toThrow(expect.objectContaining({ argument: 'ctx' }));
    expect(() => ctx.upload(call.q)).toThrow(expect.objectContaining({ argument: 'ctx' }));
    ctx.destroy();
  });
});

describe('a device that is lost', () => {
  test('makes all pending promises reject with DEVICE_LOST, and later calls throw it', async () => {
    const device = await callersDevice();
    const ctx = await createContext({ device });
    const [q, k, v, dO] = [call.q, call.k, call.v, call.dO].map(t => ctx.upload(t));
    const vjp = sdpaVjp(ctx, q, k, v);
    const { dq, dk } = vjp.backward(dO);
    const plan = planSdpa(ctx, normalise({ q, k, v }, { softcap: 7 }).problem);
    const pending = [vjp.o, vjp.lse, dq, dk].map(t => ctx.download(t).catch((error: unknown) => error));
    device.destroy();
    for (const error of await Promise.all(pending)) {
      expect(error).toBeInstanceOf(TilewiseError);
      expect(error).toMatchObject({ code: 'DEVICE_LOST' });
    }
    await device.lost;
    const lost = expect.objectContaining({ code: 'DEVICE_LOST' });
    expect(() => sdpa(ctx, q, k, v)).toThrow(lost);
    expect(() => vjp.backward(dO)).toThrow(lost);
    expect(() => ctx.upload(call.q)).toThrow(lost);
    expect(() => plan.encode(device.createCommandEncoder(), {})).toThrow(lost);
    await expect(ctx.download(dq)).rejects.toEqual(lost);
    await expect(plan.warmUp()).rejects.toEqual(lost);
    ctx.destroy();
  });
});

describe('memory', () => {
  test('beyond the limit rejects the download with OUT_OF_MEMORY', async () => {
    const device = await callersDevice();
    const create = device.createBuffer.bind(device);
    const pop = device.popErrorScope.bind(device);
    class GPUOutOfMemoryError extends Error {}
    // A driver that runs out of memory: allocating a buffer of a megabyte fails.
    const failures: number[] = [];
    Object.defineProperty(device, 'createBuffer', {
      value: (descriptor: GPUBufferDescriptor) => {
        if (descriptor.size >= 2 ** 20) failures.push(descriptor.size);
        return create(descriptor);
      },
    });
    Object.defineProperty(device, 'popErrorScope', {
      value: async () => {
        const error = await pop();
        return error ?? (failures.splice(0).length > 0 ? new GPUOutOfMemoryError('no room') : null);
      },
    });
    const ctx = await createContext({ device });
    const big = ctx.upload(Tensor.zeros([1, 1, 2 ** 14, 16]));
    await expect(ctx.download(big)).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    const small = ctx.upload(Tensor.zeros([1, 1, 4, 16]));
    const { o } = sdpa(ctx, small, big, big);
    await expect(ctx.download(o), 'what is computed from it').rejects.toMatchObject({
      code: 'OUT_OF_MEMORY',
    });
    const { o: fine } = sdpa(ctx, small, small, small);
    expect((await ctx.download(fine)).shape).toEqual([1, 1, 4, 16]);
    ctx.destroy();
    device.destroy();
  });

  test('kept for reuse is limited, and the memory that was freed first is released first', async () => {
    const { device } = await sharedContext();
    const ctx = await createContext({ device, maxIdleBytes: 4096 });
    const tensors = [1, 2, 3, 4].map(n => ctx.allocate([256 * n], 'f32'));
    expect(ctx.memory.current).toBe(1024 * 10);
    for (const tensor of tensors) tensor.destroy();
    expect(ctx.memory.current).toBe(4096);
    ctx.allocate([1024], 'f32');
    expect(ctx.memory.current).toBe(4096);
    ctx.allocate([256], 'f32');
    expect(ctx.memory.current).toBe(4096 + 1024);
    ctx.destroy();
    await expect(createContext({ device, maxIdleBytes: -1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      argument: 'maxIdleBytes',
    });
  });
});

test('a view is inside its buffer', async () => {
  const ctx = await createContext({ device: (await sharedContext()).device });
  const t = ctx.wrap(storageBuffer(ctx.device, 64), { dtype: 'f16', shape: [4, 4], offset: 8 });
  expect(ctx.view(t, { shape: [7, 4], strides: [4, 1] }).shape).toEqual([7, 4]);
  expect(() => ctx.view(t, { shape: [8, 4], strides: [4, 1] })).toThrow(
    expect.objectContaining({
      code: 'INVALID_SHAPE',
      message: expect.stringMatching(/needs 72 bytes.*has 64/),
    }),
  );
  expect(() => ctx.view(t, { shape: [4], strides: [-1] })).toThrow(
    expect.objectContaining({ argument: 'strides' }),
  );
  ctx.destroy();
});
