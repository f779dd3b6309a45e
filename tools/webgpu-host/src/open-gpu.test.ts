import { expect, test } from 'vitest';
import { openGpu } from './open-gpu.ts';

test('opens an adapter that computes', { timeout: 60_000 }, async () => {
  const { adapter, description, source } = await openGpu();
  expect(description).not.toBe('');
  expect(source).not.toBe('');
  const device = await adapter.requestDevice();
  const values = new Float32Array([1, 2, 3, 4]);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: values.byteLength, usage });
  const readback = device.createBuffer({
    size: values.byteLength,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  device.queue.writeBuffer(buffer, 0, values);
  const code = `
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { x[i] = x[i] * x[i]; }`;
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }), entryPoint: 'main' },
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer } }],
    }),
  );
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, readback, 0, values.byteLength);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(GPUMapMode.READ);
  expect([...new Float32Array(readback.getMappedRange())]).toEqual([1, 4, 9, 16]);
  device.destroy();
});

test('keeps one GPU per process and gives every call an adapter that can still make a device', async () => {
  const first = await openGpu();
  const second = await openGpu();
  expect(second.gpu).toBe(first.gpu);
  for (const { adapter } of [first, second]) (await adapter.requestDevice()).destroy();
});

test('the null backend type-checks f16 and subgroups, and rejects what is wrong', async () => {
  const { adapter, kind } = await openGpu({ backend: 'null' });
  expect(kind).toBe('null');
  const device = await adapter.requestDevice({
    requiredFeatures: ['shader-f16', 'subgroups'] as GPUFeatureName[],
  });
  const shader = (body: string) => `
    enable f16; enable subgroups;
    @group(0) @binding(0) var<storage, read_write> x: array<f16>;
    @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) { ${body} }`;
  const errors = async (code: string) => {
    device.pushErrorScope('validation');
    const info = await device.createShaderModule({ code }).getCompilationInfo();
    await device.popErrorScope();
    return info.messages.filter(message => message.type === 'error').length;
  };
  expect(await errors(shader('x[i] = subgroupAdd(x[i]);'))).toBe(0);
  expect(await errors(shader('x[i] = subgroupAdd(true);'))).toBeGreaterThan(0);
  device.destroy();
});

test('toggles come from the environment, and add to those of the null backend', async () => {
  process.env.TILEWISE_TOGGLES = 'vulkan_enable_f16_on_nvidia, use_vulkan_memory_model';
  const { adapter, toggles } = await openGpu({ backend: 'null' });
  delete process.env.TILEWISE_TOGGLES;
  expect(toggles).toEqual(['vulkan_enable_f16_on_nvidia', 'use_vulkan_memory_model']);
  expect([...adapter.features]).toContain('chromium-experimental-subgroup-matrix');
  expect((await openGpu({ backend: 'null', toggles: [] })).toggles).toEqual([]);
});

test('passes the given flags to Dawn', async () => {
  const plain = await openGpu({ backend: 'null' });
  const flagged = await openGpu({
    backend: 'null',
    dawnFlags: ['disable-dawn-features=timestamp_quantization'],
  });
  expect(flagged.gpu).not.toBe(plain.gpu);
});
