import { Tensor } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { readmeExamples } from '@tilewise/readme-examples';
import { createContext, type GpuContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { jaxAttention, tensorOf } from './jax-attention.ts';

type Jax = typeof import('@jax-js/jax');
let jax: Jax;
let ctx: GpuContext;
beforeAll(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu, userAgent: 'node', hardwareConcurrency: 1 });
  jax = await import('@jax-js/jax');
  await jax.init('webgpu');
  jax.defaultDevice('webgpu');
  // The device of jax-js, shared; the context does not destroy it.
  ctx = await createContext({ device: jax.getWebGPUDevice() });
});
afterAll(() => {
  ctx.destroy();
  vi.unstubAllGlobals();
});

const [B, S, H, D] = [1, 37, 2, 8];

/** An array that a jax-js kernel computed, and its values. */
async function computed(step: number) {
  const { numpy: np } = jax;
  const phases = Float32Array.from({ length: B * S * H * D }, (_, n) => n * step);
  const array = np.sin(np.array(phases).reshape([B, S, H, D]).mul(1.5));
  const values = Tensor.from((await array.ref.data()) as Float32Array, [B, S, H, D]).permute(0, 2, 1, 3);
  return { array, values };
}

function expectClose(got: Tensor, want: Tensor, allowed: number): void {
  const [a, b] = [got.toFloat64(), want.toFloat64()];
  const error = b.reduce((most, x, n) => Math.max(most, Math.abs(a[n] - x)), 0);
  expect(error).toBeLessThanOrEqual(allowed * Math.max(1, ...b.map(Math.abs)));
}

test('attention on arrays of jax-js, and its gradients, equal those of the reference', async () => {
  const [q, k, v, dO] = [await computed(0.7), await computed(1.1), await computed(2.3), await computed(3.1)];
  const { o, backward, release } = await jaxAttention(ctx, q.array, k.array, v.array, { causal: true });
  const exact = exactSdpa(q.values, k.values, v.values, { causal: true });
  // The f32 tolerances for scores of this size: 1e-5 of the largest value forward, 2e-5 backward.
  expectClose(await ctx.download(o), exact.o, 1e-5);
  const { dq, dk, dv } = backward(await tensorOf(ctx, dO.array));
  const inputs = { q: q.values, k: k.values, v: v.values, o: exact.o, lse: exact.lse, dO: dO.values };
  const gradients = exactSdpaBackward(inputs, { causal: true });
  expectClose(await ctx.download(dq), gradients.dq, 2e-5);
  expectClose(await ctx.download(dk), gradients.dk, 2e-5);
  expectClose(await ctx.download(dv), gradients.dv, 2e-5);
  release();
});

test('nothing is copied: the tensors use the buffers of jax-js', async () => {
  const { array } = await computed(0.3);
  const buffer = await array.ref.gpuBuffer();
  const copies = vi.spyOn(GPUCommandEncoder.prototype, 'copyBufferToBuffer');
  const writes = vi.spyOn(GPUQueue.prototype, 'writeBuffer');
  const { current } = ctx.memory;
  const tensor = await tensorOf(ctx, array);
  expect(tensor.buffer).toBe(buffer);
  expect(tensor.shape).toEqual([B, H, S, D]);
  expect(ctx.memory.current).toBe(current);
  const { release } = await jaxAttention(ctx, array, array, array);
  expect([copies.mock.calls.length, writes.mock.calls.length]).toEqual([0, 0]);
  release();
  copies.mockRestore();
  writes.mockRestore();
});

test('jax-js can use its arrays after attention has read them, and after the context is destroyed', async () => {
  const { array, values } = await computed(0.9);
  const own = await createContext({ device: jax.getWebGPUDevice() });
  const { o } = await jaxAttention(own, array, array, array);
  await own.download(o);
  own.destroy();
  const doubled = (await array.mul(2).data()) as Float32Array;
  expect(doubled[5]).toBeCloseTo(2 * values.permute(0, 2, 1, 3).toFloat64()[5], 5);
});

test('a dtype that attention does not have is reported', async () => {
  const integers = jax.numpy.array([1, 2, 3], { dtype: jax.numpy.int32 });
  await expect(tensorOf(ctx, integers)).rejects.toThrow('attention takes float32 or float16, got int32');
});

test('the example of the README runs, on the same device', async () => {
  const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));
  const code = `${examples[0]}\nconsole.log(o.shape, dq.shape, ctx.device === getWebGPUDevice());`;
  const shape = [1, 4, 64, 16];
  expect(await run(code)).toEqual([shape, shape, true]);
});
