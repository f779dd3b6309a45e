import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import * as reference from '@tilewise/core/reference';
import { openGpu } from '@tilewise/webgpu-host';
import { describe, expect, test, vi } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { bitsOf } from '../../testing/attention/expect-agreement.ts';
import { callersDevice } from '../../testing/device/device-buffers.ts';
import {
  createContext,
  planSdpa,
  planSdpaBackward,
  sdpa,
  sdpaBackward,
  warmUp,
  webgpuEngine,
} from '../index.ts';

const host = Tensor.zeros([1, 1, 8, 8]);
const lse = Tensor.zeros([1, 1, 8]);

/**
 * A fresh device, on which nothing has been compiled, and the names of the kernels that it compiles
 * synchronously.
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

describe('an eager call whose kernels are not compiled', () => {
  const x = normal([1, 1, 40, 8], 1);

  test('returns at once, and compiles in the background', async () => {
    const { device, blocking } = await freshDevice();
    const ctx = await createContext({ device });
    const q = ctx.upload(x);
    const { o, lse } = sdpa(ctx, q, q, q);
    const { dq } = sdpaBackward(ctx, { q, k: q, v: q, o, lse, dO: q });
    const first = bitsOf(await ctx.download(dq));
    const again = sdpaBackward(ctx, { q, k: q, v: q, o, lse, dO: q });
    expect(bitsOf(await ctx.download(again.dq))).toEqual(first);
    expect(blocking).toEqual([]);
    ctx.destroy();
    device.destroy();
  });

  test('is submitted before later calls, and keeps its operands even if they are destroyed', async () => {
    const { device } = await freshDevice();
    const ctx = await createContext({ device });
    const q = ctx.upload(x);
    const { o } = sdpa(ctx, q, q, q);
    q.destroy();
    const other = ctx.upload(Tensor.zeros([1, 1, 40, 8]));
    const zeros = sdpa(ctx, other, other, other);
    const copy = await ctx.download(o);
    const expected = reference.sdpa(x, x, x).o;
    expect(
      Math.max(...copy.toFloat32().map((v, n) => Math.abs(v - (expected.toFloat32()[n] ?? 0)))),
    ).toBeLessThan(1e-5);
    expect(Math.max(...(await ctx.download(zeros.o)).toFloat32())).toBe(0);
    const held = ctx.memory.current;
    expect(sdpa(ctx, other, other, other).o.shape).toEqual([1, 1, 40, 8]);
    expect(ctx.memory.current).toBeGreaterThan(held);
    ctx.destroy();
    device.destroy();
  });

  test('stops plans that would overtake it', async () => {
    const { device } = await freshDevice();
    const ctx = await createContext({ device });
    const q = ctx.upload(host);
    const { o, lse } = sdpa(ctx, q, q, q);
    const plan = planSdpa(ctx, normalise({ q: host, k: host, v: host }).problem);
    const encode = () =>
      plan.encode(device.createCommandEncoder(), { q: o, k: q, v: q, o: ctx.upload(host), lse });
    expect(encode).toThrow('await ctx.submitted() first');
    await ctx.submitted();
    expect(encode).not.toThrow();
    ctx.destroy();
    device.destroy();
  });

  test('gives its results the error of the compiler, and later calls none', async () => {
    const { device } = await freshDevice();
    const ctx = await createContext({ device });
    const compile = device.createComputePipelineAsync.bind(device);
    device.createComputePipelineAsync = () => Promise.reject(new Error('no registers'));
    const q = ctx.upload(host);
    const { o } = sdpa(ctx, q, q, q);
    await expect(webgpuEngine(ctx).sdpa(q, q, q)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    device.createComputePipelineAsync = compile;
    await expect(ctx.download(o)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect((await ctx.download(sdpa(ctx, q, q, q).o)).shape).toEqual([1, 1, 8, 8]);
    ctx.destroy();
    device.destroy();
  });

  test('fails with its context', async () => {
    const { device } = await freshDevice();
    const ctx = await createContext({ device });
    const q = ctx.upload(host);
    const waiting = webgpuEngine(ctx).sdpa(q, q, q);
    ctx.destroy();
    await expect(waiting).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', argument: 'ctx' });
    await ctx.submitted();
    device.destroy();
  });
});

test('an engine runs compiled work at once, so that its inputs may be destroyed', async () => {
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

test('problems that are warmed up together compile each kernel once', async () => {
  const { device, blocking } = await freshDevice();
  const ctx = await createContext({ device });
  const asynchronous = vi.spyOn(device, 'createComputePipelineAsync');
  const { problem } = normalise({ q: host, k: host, v: host });
  const shorter = Tensor.zeros([1, 1, 7, 8]);
  const other = normalise({ q: shorter, k: shorter, v: shorter }, { scale: 2 }).problem;
  const backward = normaliseBackward({ q: host, k: host, v: host, o: host, lse, dO: host }).problem;
  await warmUp(ctx, [problem, other, backward]);
  expect(asynchronous.mock.calls.map(([{ label }]) => label).sort()).toEqual([
    'attention delta',
    'attention dk dv',
    'attention dq',
    'attention forward',
  ]);
  const q = ctx.upload(shorter);
  sdpa(ctx, q, q, q);
  await ctx.submitted();
  expect([blocking.length, asynchronous.mock.calls.length]).toEqual([0, 4]);
  ctx.destroy();
  device.destroy();
});

describe('an eager call compiles nothing after a warm-up of its problem', () => {
  const rowsOfNine = Tensor.zeros([1, 1, 8, 8], { strides: [72, 72, 9, 1] });
  const expanded = Tensor.zeros([1, 1, 8, 8]).expand([1, 2, 8, 8]);
  const forTwoHeads = { q: Tensor.zeros([1, 2, 8, 8]), k: expanded, v: expanded };

  test.each([
    ['with rows that cannot be read as vectors', { q: rowsOfNine, k: rowsOfNine, v: rowsOfNine }],
    ['with a key head that was expanded to two', forTwoHeads],
  ])('%s', async (_, inputs) => {
    const { adapter } = await openGpu({ backend: 'null' });
    const device = await adapter.requestDevice();
    const blocking = vi.spyOn(device, 'createComputePipeline');
    const ctx = await createContext({ device });
    const dO = Tensor.zeros(inputs.q.shape);
    const row = Tensor.zeros(inputs.q.shape.slice(0, 3));
    const { problem } = normalise(inputs);
    await warmUp(ctx, [problem, normaliseBackward({ ...inputs, o: dO, lse: row, dO }).problem]);
    const asynchronous = vi.spyOn(device, 'createComputePipelineAsync');
    const [q, k, v] = [inputs.q, inputs.k, inputs.v].map(t => ctx.upload(t));
    const { o, lse } = sdpa(ctx, q, k, v);
    sdpaBackward(ctx, { q, k, v, o, lse, dO: ctx.upload(dO) });
    await ctx.submitted();
    expect([...blocking.mock.calls, ...asynchronous.mock.calls]).toEqual([]);
    ctx.destroy();
    device.destroy();
  });
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
  const asynchronous = vi.spyOn(device, 'createComputePipelineAsync');
  const q = ctx.upload(host);
  const { o, lse: stats } = sdpa(ctx, q, q, q);
  sdpaBackward(ctx, { q, k: q, v: q, o, lse: stats, dO: q });
  await ctx.submitted();
  expect([blocking, asynchronous.mock.calls]).toEqual([[], []]);
  ctx.destroy();
  device.destroy();
});
