import { Tensor, TilewiseError } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { bitsOf } from '../../testing/attention/expect-agreement.ts';
import { callersDevice, readBuffer, storageBuffer } from '../../testing/device/device-buffers.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { type ContextOptions, createContext, type GpuContext, sdpa } from '../index.ts';

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
    ['a gpu that rejects', { gpu: { requestAdapter: () => Promise.reject(new Error('blocked')) } }],
  ])('%s is NO_ADAPTER', async (_, navigator) => {
    vi.stubGlobal('navigator', navigator);
    const error = await createContext().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(TilewiseError);
    expect(error).toMatchObject({ code: 'NO_ADAPTER' });
  });
});

test('an adapter that was not found is NO_ADAPTER, and the advice is not to pass one', async () => {
  const error = await createContext({ adapter: null as never }).catch((e: unknown) => e);
  expect(error).toMatchObject({
    code: 'NO_ADAPTER',
    message: expect.stringMatching(/gave null.*no driver/),
  });
});

test.each([
  [{ powerPreference: 'high' }, 'powerPreference must be one of high-performance, low-power, got "high"'],
  [{ powerPreference: null }, 'powerPreference must be one of high-performance, low-power, got null'],
  [{ adapter: false }, 'adapter must be a GPUAdapter, got false'],
  [{ device: null }, 'device must be a GPUDevice, got null'],
  [{ device: '' }, 'device must be a GPUDevice, got ""'],
])('%j is refused, and does not stand for the default', async (options, message) => {
  await expect(createContext(options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message });
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

  test('an adapter, with its limits and its optional features', async () => {
    const { adapter } = await openGpu();
    const limit = adapter.limits.maxStorageBuffersPerShaderStage;
    const own = await createContext({ adapter });
    expect(own.capabilities.maxStorageBuffersPerShaderStage).toBe(limit);
    expect(own.capabilities.features.includes('shader-f16')).toBe(adapter.features.has('shader-f16'));
    own.destroy();
  });

  test('an adapter that has already made its device cannot be used again', async () => {
    const { adapter } = await openGpu();
    const device = await adapter.requestDevice();
    await expect(createContext({ adapter })).rejects.toMatchObject({ code: 'NO_ADAPTER' });
    device.destroy();
  });

  test('a device whose context cannot be made is destroyed', async () => {
    const { adapter } = await openGpu();
    const device = await adapter.requestDevice();
    const own = { requestDevice: async () => device, features: new Set(), limits: {} };
    const trace = {
      attach() {
        throw new TypeError('no such trace');
      },
    };
    const options = { adapter: own, trace } as unknown as ContextOptions;
    await expect(createContext(options)).rejects.toThrow('no such trace');
    expect((await device.lost).reason).toBe('destroyed');
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
    // The parameters of the call are allocated when its kernels have been compiled.
    await two.submitted();
    two.trim();
    const before = two.memory.current;
    const expected = bitsOf(await two.download(o));
    one.destroy();
    // Frees the download's staging buffer, which is kept for reuse.
    two.trim();
    expect([one.memory.current, two.memory.current]).toEqual([0, before]);
    expect(bitsOf(await two.download(o))).toEqual(expected);
    two.destroy();
  });
});
