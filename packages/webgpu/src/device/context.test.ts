import { type DType, Tensor, TilewiseError } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { normal } from '../../testing/attention-call.ts';
import { callersDevice, readBuffer, storageBuffer } from '../../testing/device-buffers.ts';
import { bitsOf } from '../../testing/expect-agreement.ts';
import { sharedContext } from '../../testing/shared-context.ts';
import { createContext, type GpuContext, sdpa } from '../index.ts';

let ctx: GpuContext;
beforeAll(async () => {
  ctx = await sharedContext();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe('without WebGPU', () => {
  test.each([
    ['no navigator', undefined],
    ['a navigator without gpu', {}],
    ['a gpu without an adapter', { gpu: { requestAdapter: async () => null } }],
  ])('%s is NO_ADAPTER', async (_, navigator) => {
    vi.stubGlobal('navigator', navigator);
    const error = await createContext().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(TilewiseError);
    expect(error).toMatchObject({ code: 'NO_ADAPTER' });
  });
});

describe('where the device comes from', () => {
  test('navigator.gpu, with the power preference', async () => {
    const { gpu } = await openGpu();
    const requestAdapter = vi.fn((options: GPURequestAdapterOptions) => gpu.requestAdapter(options));
    vi.stubGlobal('navigator', { gpu: { requestAdapter } });
    const own = await createContext({ powerPreference: 'low-power' });
    expect(requestAdapter).toHaveBeenCalledWith({ powerPreference: 'low-power' });
    own.destroy();
    expect((await own.device.lost).reason).toBe('destroyed');
  });

  test('an adapter, with its limits and what it has of the optional features', async () => {
    const { adapter } = await openGpu();
    const limit = adapter.limits.maxStorageBuffersPerShaderStage;
    const own = await createContext({ adapter });
    expect(own.capabilities.maxStorageBuffersPerShaderStage).toBe(limit);
    expect(own.capabilities.features.includes('shader-f16')).toBe(adapter.features.has('shader-f16'));
    own.destroy();
  });

  test('an adapter that has made its device already is no adapter', async () => {
    const { adapter } = await openGpu();
    const device = await adapter.requestDevice();
    await expect(createContext({ adapter })).rejects.toMatchObject({ code: 'NO_ADAPTER' });
    device.destroy();
  });

  test("the caller's device outlives the context", async () => {
    const device = await callersDevice();
    const buffer = storageBuffer(device, Float32Array.of(1, 2, 3, 4));
    const own = await createContext({ device });
    expect(own.device).toBe(device);
    own.upload(normal([4], 1));
    own.destroy();
    expect(new Float32Array((await readBuffer(device, buffer)).buffer)).toEqual(Float32Array.of(1, 2, 3, 4));
    const again = await createContext({ device });
    expect([...(await again.download(again.upload(Tensor.from([5], [1])))).toFloat32()]).toEqual([5]);
    device.destroy();
  });

  test('two contexts on one device share its tensors, and each counts and frees its own', async () => {
    const [one, two] = [
      await createContext({ device: ctx.device }),
      await createContext({ device: ctx.device }),
    ];
    const q = one.upload(normal([1, 1, 40, 8], 1));
    const { o } = sdpa(two, q, q, q);
    expect(one.memory.current).toBe(4 * 320);
    const before = two.memory.current;
    const expected = bitsOf(await two.download(o));
    one.destroy();
    expect([one.memory.current, two.memory.current]).toEqual([0, before]);
    expect(bitsOf(await two.download(o))).toEqual(expected);
    two.destroy();
  });
});

describe('tensors', () => {
  test.each<[DType, number]>([
    ['f32', 7],
    ['f16', 7],
    ['bf16', 1],
    ['f8e4m3', 5],
    ['i32', 3],
    ['u8', 6],
    ['bool', 9],
  ])('come back as they went: %s × %i', async (dtype, n) => {
    const t = Tensor.from(
      Array.from({ length: n }, (_, i) => i % 2),
      [n],
      { dtype },
    );
    const back = await ctx.download(ctx.upload(t));
    expect([back.dtype, back.shape, bitsOf(back)]).toEqual([dtype, [n], bitsOf(t)]);
  });

  test('of no elements too', async () => {
    const back = await ctx.download(ctx.upload(Tensor.zeros([2, 0, 3])));
    expect([back.shape, back.size]).toEqual([[2, 0, 3], 0]);
  });

  test('with an offset and strides of their own', async () => {
    const t = Tensor.from(
      Array.from({ length: 60 }, (_, n) => n),
      [3, 4, 5],
      { dtype: 'f16' },
    );
    const view = t.permute(2, 0, 1).slice(0, 1, 4).slice(2, 1, 3);
    const back = await ctx.download(ctx.upload(view));
    expect([back.shape, back.strides]).toEqual([view.shape, view.strides]);
    expect(back.toFloat32()).toEqual(view.toFloat32());
  });

  test('over shared memory', async () => {
    const data = new Float32Array(new SharedArrayBuffer(16)).fill(2);
    const t = Tensor.wrap(data, { dtype: 'f32', shape: [4] });
    expect([...(await ctx.download(ctx.upload(t))).toFloat32()]).toEqual([2, 2, 2, 2]);
  });

  test('keep NaN payloads and signed zeros', async () => {
    const t = Tensor.wrap(Uint16Array.of(0x7e01, 0xfc00, 0x8000, 0x0001), { dtype: 'f16', shape: [4] });
    expect(bitsOf(await ctx.download(ctx.upload(t)))).toEqual(bitsOf(t));
  });

  test('whose buffer has been transferred are refused, and take no memory', () => {
    const t = normal([64], 1);
    structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] });
    const { current } = ctx.memory;
    expect(() => ctx.upload(t)).toThrow(
      'tensor must have 64 elements of storage, has 0; its buffer has been transferred or has shrunk',
    );
    expect(ctx.memory.current).toBe(current);
  });

  test("in the caller's buffer are read from their offset, and never freed", async () => {
    const buffer = storageBuffer(
      ctx.device,
      Uint16Array.from({ length: 12 }, (_, n) => n),
    );
    const t = ctx.wrap(buffer, { dtype: 'f16', shape: [2, 3], strides: [4, 1], offset: 6 });
    expect([...new Uint16Array((await ctx.download(t)).contiguous().data)]).toEqual([3, 4, 5, 7, 8, 9]);
    t.destroy();
    expect((await readBuffer(ctx.device, buffer)).length).toBe(24);
  });
});
