import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sdpa as exact } from '@tilewise/core/reference';
import { Graph } from '@tilewise/graph';
import { toOnnx } from '@tilewise/graph/onnx';
import { createContext, type GpuContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { attention } from './onnxruntime-web.ts';
import { bytes, expectClose, shape, tensor, values } from './testing/example-data.ts';
import { trafficOf } from './testing/traffic.ts';

type Ort = typeof import('onnxruntime-web/webgpu');
let ort: Ort;
let device: GPUDevice;
let ctx: GpuContext;
beforeAll(async () => {
  const { gpu, adapter } = await openGpu();
  vi.stubGlobal('navigator', { gpu, userAgent: 'node', hardwareConcurrency: 1 });
  const dist = dirname(createRequire(import.meta.url).resolve('onnxruntime-web'));
  ort = (await import(pathToFileURL(join(dist, 'ort.webgpu.bundle.min.mjs')).href)) as Ort;
  ort.env.logLevel = 'error';
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = `${pathToFileURL(dist).href}/`;
  ort.env.wasm.wasmBinary = readFileSync(join(dist, 'ort-wasm-simd-threaded.asyncify.wasm'))
    .buffer as ArrayBuffer;
  copySharedSources();
  device = await adapter.requestDevice({
    requiredLimits: {
      maxStorageBuffersPerShaderStage: adapter.limits.maxStorageBuffersPerShaderStage,
      maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
      maxBufferSize: adapter.limits.maxBufferSize,
      maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup: adapter.limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX: adapter.limits.maxComputeWorkgroupSizeX,
    },
  });
  ctx = await createContext({ device });
});
afterAll(() => {
  ctx?.destroy();
  vi.unstubAllGlobals();
});

/**
 * Dawn in Node does not accept shared memory as the source of a write; onnxruntime-web's memory is shared.
 */
function copySharedSources(): void {
  const { writeBuffer } = GPUQueue.prototype;
  vi.spyOn(GPUQueue.prototype, 'writeBuffer').mockImplementation(function (
    this: GPUQueue,
    ...[buffer, offset, data, from, size]: Parameters<GPUQueue['writeBuffer']>
  ) {
    const view = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
    const copy = view.buffer instanceof SharedArrayBuffer ? (view as Uint8Array).slice() : view;
    return writeBuffer.call(this, buffer, offset, copy as Uint8Array<ArrayBuffer>, from, size);
  });
}

/** A model that doubles its input and leaves its result on the GPU. */
function doubling() {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [...shape] });
  const y = g.tensor({ dtype: 'f32' });
  g.op('Add', { inputs: [x, x], outputs: [y] });
  return ort.InferenceSession.create(toOnnx(g.finalize()), {
    executionProviders: [{ name: 'webgpu', device }],
    preferredOutputLocation: 'gpu-buffer',
    logSeverityLevel: 3,
  });
}

test('attention runs between two sessions, on their device and without a copy', async () => {
  const session = await doubling();
  const run = async (t: InstanceType<Ort['Tensor']>) => (await session.run({ t0: t })).t1;
  // A session runs one call at a time.
  const q = await run(new ort.Tensor('float32', values(1), shape));
  const k = await run(new ort.Tensor('float32', values(2), shape));
  const v = await run(new ort.Tensor('float32', values(3), shape));
  expect(q.location).toBe('gpu-buffer');
  const inputs = { q, k, v } as unknown as Parameters<typeof attention>[2];
  attention(ort as unknown as Parameters<typeof attention>[0], ctx, inputs); // compiles
  await ctx.submitted();
  const { result, traffic } = await trafficOf(async () => {
    const o = attention(ort as unknown as Parameters<typeof attention>[0], ctx, inputs, {});
    await ctx.submitted();
    return o;
  });
  expect(traffic).toMatchObject({ copies: 0, reads: 0 });
  expect(traffic.buffers.filter(size => size >= bytes).length).toBeLessThanOrEqual(1);
  const doubled = await run(result as unknown as InstanceType<Ort['Tensor']>);
  const { o } = exact(tensor(1, 2), tensor(2, 2), tensor(3, 2));
  const got = (await doubled.getData()) as Float32Array;
  expectClose(
    got.map(x => x / 2),
    o,
  );
});
