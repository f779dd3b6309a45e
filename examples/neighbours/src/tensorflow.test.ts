import { createRequire } from 'node:module';
import { sdpa as exact, sdpaBackward as exactBackward } from '@tilewise/core/reference';
import { createContext, type GpuContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { attention } from './tensorflow.ts';
import { bytes, expectClose, shape, tensor, values } from './testing/example-data.ts';
import { trafficOf } from './testing/traffic.ts';

type Tf = typeof import('@tensorflow/tfjs');
let tf: Tf;
let ctx: GpuContext;
beforeAll(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu, userAgent: 'node', hardwareConcurrency: 1 });
  vi.stubGlobal('self', globalThis);
  const require = createRequire(import.meta.url);
  tf = require('@tensorflow/tfjs') as Tf;
  require('@tensorflow/tfjs-backend-webgpu');
  await tf.setBackend('webgpu');
  await tf.ready();
  ctx = await createContext({ device: (tf.backend() as unknown as { device: GPUDevice }).device });
});
afterAll(() => {
  ctx.destroy();
  vi.unstubAllGlobals();
});

// A TensorFlow.js kernel has run.
const onGpu = (seed: number) => tf.mul(tf.tensor(values(seed), [...shape]), 2);

test('tf.grads goes through flash attention, and nothing is copied', async () => {
  const options = { causal: true, dropout: { p: 0.25, seed: 7, offset: 0 } };
  const [q, k, v] = [onGpu(1), onGpu(2), onGpu(3)];
  const weights = onGpu(4);
  const own = attention(tf, ctx, options);
  const o = own(q, k, v); // compiles
  await ctx.submitted();
  const { result, traffic } = await trafficOf(async () => {
    const grads = tf.grads((a, b, c) => tf.sum(tf.mul(own(a, b, c), weights)))([q, k, v]);
    await ctx.submitted();
    return grads;
  });
  expect(traffic).toMatchObject({ copies: 0, reads: 0 });
  // Tilewise computes o, dq, dk and dv; TensorFlow.js computes o·weights and their gradients.
  expect(traffic.buffers.filter(size => size >= bytes).length).toBeLessThanOrEqual(10);

  const [hq, hk, hv, dO] = [1, 2, 3, 4].map(seed => tensor(seed, 2));
  const want = exact(hq, hk, hv, options);
  const gradients = exactBackward({ q: hq, k: hk, v: hv, o: want.o, lse: want.lse, dO }, options);
  expectClose(await o.data(), want.o);
  const [dq, dk, dv] = await Promise.all(result.map(one => one.data()));
  expectClose(dq, gradients.dq);
  expectClose(dk, gradients.dk);
  expectClose(dv, gradients.dv);
});

test('backward gives the same bits again', async () => {
  const [q, k, v] = [onGpu(1), onGpu(2), onGpu(3)];
  const gradient = async () => {
    const own = attention(tf, ctx, { causal: true });
    return (await tf
      .grads((a, b, c) => tf.sum(own(a, b, c)))([q, k, v])[1]
      .data()) as Float32Array;
  };
  expect(await gradient()).toEqual(await gradient());
});
