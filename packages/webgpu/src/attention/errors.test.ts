import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  normalise,
  normaliseBackward,
  type SdpaOptions,
  Tensor,
  TilewiseError,
  UnsupportedError,
} from '@tilewise/core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exactResults, normal, type Results } from '../../testing/attention-call.ts';
import { callersDevice, storageBuffer } from '../../testing/device-buffers.ts';
import { expectAgreement } from '../../testing/expect-agreement.ts';
import { sharedContext } from '../../testing/shared-context.ts';
import {
  checkSupport,
  createContext,
  type EncodeOptions,
  type GpuContext,
  type GpuTensor,
  planSdpa,
  planSdpaBackward,
  sdpa,
  sdpaBackward,
} from '../index.ts';

const shape = [1, 2, 40, 8];
const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal(shape, seed));
let ctx: GpuContext;
let exact: Results;
let gpu: { q: GpuTensor; k: GpuTensor; v: GpuTensor; dO: GpuTensor; o: GpuTensor; lse: GpuTensor };
beforeAll(async () => {
  ctx = await createContext({ device: (await sharedContext()).device });
  exact = exactResults({ q, k, v, dO });
  const { o, lse } = exact;
  gpu = {
    q: ctx.upload(q),
    k: ctx.upload(k),
    v: ctx.upload(v),
    dO: ctx.upload(dO),
    o: ctx.upload(o),
    lse: ctx.upload(lse),
  };
});

// Whatever went wrong, the context and its tensors are as they were.
afterEach(async () => {
  const { o, lse } = sdpa(ctx, gpu.q, gpu.k, gpu.v);
  const { dq } = sdpaBackward(ctx, gpu, { gradients: ['dq'] });
  const got = { o: await ctx.download(o), lse: await ctx.download(lse), dq: await ctx.download(dq) };
  expectAgreement(got, { o: exact.o, lse: exact.lse, dq: exact.dq });
  for (const tensor of [o, lse, dq]) tensor.destroy();
});

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function expectError(
  error: unknown,
  kind: abstract new (...args: never[]) => TilewiseError,
  argument: string,
  message: RegExp,
): void {
  expect(error).toBeInstanceOf(TilewiseError);
  expect(error).toBeInstanceOf(kind);
  expect((error as TilewiseError).argument).toBe(argument);
  expect((error as TilewiseError).message).toMatch(message);
}

const as = (t: unknown): GpuTensor => t as GpuTensor;
const zeros = (shape: readonly number[]): GpuTensor => ctx.upload(Tensor.zeros(shape));

describe('a wrong call throws, naming the argument', () => {
  test.each<[string, () => unknown, typeof InvalidArgumentError | typeof InvalidShapeError, string, RegExp]>([
    ['rank', () => sdpa(ctx, zeros([2, 40, 8]), gpu.k, gpu.v), InvalidShapeError, 'q', /rank 4 .*\[2,40,8\]/],
    ['heads', () => sdpa(ctx, gpu.q, zeros([1, 3, 40, 8]), gpu.v), InvalidShapeError, 'k', /divides.*got 3/],
    ['head size', () => sdpa(ctx, gpu.q, zeros([1, 2, 40, 4]), gpu.v), InvalidShapeError, 'k', /8.*got 4/],
    ['keys', () => sdpa(ctx, gpu.q, gpu.k, zeros([1, 2, 39, 8])), InvalidShapeError, 'v', /40.*got 39/],
    [
      'dtype',
      () => sdpa(ctx, gpu.q, ctx.upload(Tensor.zeros(shape, { dtype: 'i32' })), gpu.v),
      InvalidDTypeError,
      'k',
      /i32/,
    ],
    [
      'drop probability',
      () => sdpa(ctx, gpu.q, gpu.k, gpu.v, { dropout: { p: 1.5, seed: 1 } }),
      InvalidArgumentError,
      'dropout.p',
      /1\.5/,
    ],
    [
      'window',
      () => sdpa(ctx, gpu.q, gpu.k, gpu.v, { window: { left: -1 } }),
      InvalidArgumentError,
      'window.left',
      /-1/,
    ],
    ['scale', () => sdpa(ctx, gpu.q, gpu.k, gpu.v, { scale: NaN }), InvalidArgumentError, 'scale', /NaN/],
    [
      'mask that is an array',
      () => sdpa(ctx, gpu.q, gpu.k, gpu.v, { mask: as([[true]]) }),
      InvalidArgumentError,
      'mask',
      /tensor/,
    ],
    [
      'tensor on the host where one on the GPU is expected',
      () => sdpa(ctx, as(q), gpu.k, gpu.v),
      InvalidArgumentError,
      'q',
      /GpuTensor/,
    ],
    [
      'undefined tensor',
      () => sdpa(ctx, gpu.q, gpu.k, as(undefined)),
      InvalidArgumentError,
      'v',
      /GpuTensor/,
    ],
    [
      'lse',
      () => sdpaBackward(ctx, { ...gpu, lse: zeros([1, 2, 39]) }),
      InvalidShapeError,
      'lse',
      /\[1,2,40\].*\[1,2,39\]/,
    ],
    ['dO', () => sdpaBackward(ctx, { ...gpu, dO: zeros([1, 2, 40, 4]) }), InvalidShapeError, 'dO', /shape/],
    [
      'missing lse',
      () => sdpaBackward(ctx, { ...gpu, lse: as(undefined) }),
      InvalidArgumentError,
      'lse',
      /tensor/,
    ],
    [
      'gradient',
      () => sdpaBackward(ctx, gpu, { gradients: ['dbias'] }),
      InvalidArgumentError,
      'gradients',
      /dbias/,
    ],
  ])('%s', (_, run, kind, argument, message) => {
    expectError(caught(run), kind, argument, message);
  });

  test('destroyed tensor', () => {
    const gone = ctx.upload(k);
    gone.destroy();
    gone.destroy();
    expectError(
      caught(() => sdpa(ctx, gpu.q, gone, gpu.v)),
      InvalidArgumentError,
      'k',
      /destroyed/,
    );
  });

  test('view of a destroyed tensor', () => {
    const owner = ctx.upload(k);
    const view = owner.permute(0, 1, 2, 3);
    owner.destroy();
    expectError(
      caught(() => sdpa(ctx, gpu.q, view, gpu.v)),
      InvalidArgumentError,
      'k',
      /destroyed/,
    );
  });

  test('tensor of another device', async () => {
    const other = await createContext({ device: await callersDevice() });
    const foreign = other.upload(k);
    expectError(
      caught(() => sdpa(ctx, gpu.q, foreign, gpu.v)),
      InvalidArgumentError,
      'k',
      /device/,
    );
    await expect(ctx.download(foreign)).rejects.toThrow(InvalidArgumentError);
    other.device.destroy();
  });

  test('order of dimensions that is none', () => {
    for (const order of [
      [0, 1, 2],
      [0, 0, 2, 3],
      [0, 1, 2, 4],
    ]) {
      expectError(
        caught(() => gpu.q.permute(...order)),
        InvalidArgumentError,
        'order',
        /permutation/,
      );
    }
  });

  test('destroyed context', async () => {
    const ended = await createContext({ device: ctx.device });
    const tensor = ended.upload(q);
    const { problem } = normalise({ q, k, v });
    const plan = planSdpa(ended, problem);
    ended.destroy();
    ended.destroy();
    for (const run of [
      () => sdpa(ended, tensor, tensor, tensor),
      () => sdpaBackward(ended, { ...gpu, q: tensor }),
      () => planSdpa(ended, problem),
      () => plan.encode(ctx.device.createCommandEncoder(), {}),
      () => ended.upload(q),
      () => ended.wrap(storageBuffer(ctx.device, 16), { dtype: 'f32', shape: [4] }),
    ]) {
      expectError(caught(run), InvalidArgumentError, 'ctx', /destroyed/);
    }
    await expect(ended.download(tensor)).rejects.toThrow(/destroyed/);
    await expect(plan.warmUp()).rejects.toThrow(/destroyed/);
  });
});

describe('a buffer that does not fit', () => {
  const wrap = (bytes: number, desc: Partial<Parameters<GpuContext['wrap']>[1]>): unknown =>
    caught(() => ctx.wrap(storageBuffer(ctx.device, bytes), { dtype: 'f32', shape: [4], ...desc }));

  test('is not wrapped', () => {
    expectError(wrap(12, {}), InvalidShapeError, 'buffer', /needs 16 bytes.*\[4\].*has 12/);
    expectError(wrap(16, { offset: 4 }), InvalidShapeError, 'buffer', /needs 20/);
    expectError(wrap(16, { shape: [2, 2], strides: [4, 1] }), InvalidShapeError, 'buffer', /needs 24/);
    expectError(wrap(64, { offset: 2 }), InvalidArgumentError, 'offset', /multiple of 4.*got 2/);
    expectError(wrap(64, { shape: [2, 2], strides: [-1, 1] }), InvalidShapeError, 'strides', /-1,1/);
    expectError(wrap(64, { shape: [-4] }), InvalidShapeError, 'shape', /-4/);
    const uniform = ctx.device.createBuffer({ size: 64, usage: 0x40 });
    expectError(
      caught(() => ctx.wrap(uniform, { dtype: 'f32', shape: [4] })),
      InvalidArgumentError,
      'buffer',
      /STORAGE/,
    );
  });

  test('nor are seeds and offsets that are no 32-bit words', () => {
    const plan = planSdpa(ctx, normalise({ q, k, v }, { dropout: { p: 0.5, seed: 1 } }).problem);
    const encode = (options: EncodeOptions): unknown =>
      caught(() =>
        plan.encode(ctx.device.createCommandEncoder(), { ...gpu, o: gpu.o, lse: gpu.lse }, options),
      );
    expectError(encode({ seed: [2 ** 32, 0] }), InvalidArgumentError, 'options.seed', /got \[4294967296,0\]/);
    expectError(encode({ seed: [-1, 0] }), InvalidArgumentError, 'options.seed', /got \[-1,0\]/);
    expectError(encode({ offset: [0, 0.5] }), InvalidArgumentError, 'options.offset', /got \[0,0\.5\]/);
  });

  test('is not recorded', () => {
    const plan = planSdpa(ctx, normalise({ q, k, v }).problem);
    const slot = (size = 4 * 640, offset = 0) => ({ buffer: storageBuffer(ctx.device, size), offset });
    const all = { q: slot(), k: slot(), v: slot(), o: slot(), lse: slot() };
    const encoder = ctx.device.createCommandEncoder();
    const encode = (buffers: object): unknown => caught(() => plan.encode(encoder, { ...all, ...buffers }));
    expectError(encode({ k: undefined }), InvalidArgumentError, 'buffers.k', /missing/);
    expectError(encode({ o: slot(4 * 639) }), InvalidShapeError, 'buffers.o', /2560 bytes.*2556/);
    expectError(encode({ o: slot(4 * 640, 16) }), InvalidShapeError, 'buffers.o', /from offset 16/);
    expectError(encode({ q: slot(4 * 700, 4) }), InvalidArgumentError, 'buffers.q.offset', /multiple of 16/);
    expectError(encode({ q: slot(4 * 700, -16) }), InvalidArgumentError, 'buffers.q.offset', /-16/);
    expectError(encode({ lse: slot(4 * 700, 2) }), InvalidArgumentError, 'buffers.lse.offset', /got 2/);
    const uniform = { buffer: ctx.device.createBuffer({ size: 4 * 640, usage: 0x40 }) };
    expectError(encode({ v: uniform }), InvalidArgumentError, 'buffers.v', /STORAGE/);
    // Nothing of the failed calls was recorded.
    plan.encode(encoder, all);
    ctx.device.queue.submit([encoder.finish()]);
  });

  test('nor is a missing workspace', () => {
    const { problem } = normaliseBackward({ q, k, v, o: dO, lse: exact.lse, dO });
    const plan = planSdpaBackward(ctx, problem);
    const buffers = Object.fromEntries(
      plan.tensors.map(({ name, bytes }) => [name, storageBuffer(ctx.device, bytes)]),
    );
    const encode = (more: object): unknown =>
      caught(() => plan.encode(ctx.device.createCommandEncoder(), { ...buffers, ...more }));
    expectError(encode({}), InvalidArgumentError, 'buffers.workspace', /missing/);
    const small = storageBuffer(ctx.device, plan.workspaceBytes - 8);
    expectError(encode({ workspace: small }), InvalidShapeError, 'buffers.workspace', /640 bytes/);
  });
});

describe('what the GPU rejects makes the download reject', () => {
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

  test('more memory than there is', async () => {
    const most = ctx.device.limits.maxBufferSize;
    const huge = ctx.allocate([most / 4 + 4], 'f32');
    expect(await huge.fault).toBeInstanceOf(TilewiseError);
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
    expect(caught(() => sdpa(lost, tensor, tensor, tensor))).toMatchObject({ code: 'DEVICE_LOST' });
  });
});

describe('what is not supported is said with its reasons, by checkSupport and by the calls', () => {
  const wide = Tensor.zeros([1, 2, 4, 513]);

  test.each<[string, { q: Tensor; k: Tensor; v: Tensor }, SdpaOptions, RegExp]>([
    ['head sizes above 512', { q: wide, k: wide, v: wide }, {}, /head size 513 is above 512/],
    ['wide values', { q: wide.slice(3, 0, 8), k: wide.slice(3, 0, 8), v: wide }, {}, /head size 513/],
  ])('%s', (_, inputs, options, reason) => {
    const { problem } = normalise(inputs, options);
    const { supported, reasons } = checkSupport(ctx, problem);
    expect(supported).toBe(false);
    expect(reasons.join()).toMatch(reason);
    const tensors = [inputs.q, inputs.k, inputs.v].map(t => ctx.upload(t));
    for (const run of [
      () => planSdpa(ctx, problem),
      () => sdpa(ctx, tensors[0], tensors[1], tensors[2], options),
    ]) {
      const error = caught(run);
      expect(error).toBeInstanceOf(UnsupportedError);
      expect(error).toMatchObject({ code: 'UNSUPPORTED', reasons });
    }
    for (const tensor of tensors) tensor.destroy();
  });

  test('more storage buffers than the device has', async () => {
    const device = await callersDevice();
    const small = await createContext({ device });
    // Eight, which WebGPU guarantees, are always enough.
    Object.assign(small, { capabilities: { ...small.capabilities, maxStorageBuffersPerShaderStage: 5 } });
    const options = {
      mask: Tensor.zeros([40, 40], { dtype: 'bool' }),
      bias: Tensor.zeros([40, 40]),
      seqLensKv: [1],
      seqLensQ: [1],
    };
    const { problem } = normalise({ q, k, v }, options);
    expect(checkSupport(small, problem).reasons).toEqual([
      "the kernel 'attention forward' needs 6 storage buffers, and this device allows 5",
    ]);
    expect(caught(() => planSdpa(small, problem))).toBeInstanceOf(UnsupportedError);
    device.destroy();
  });

  test('a problem that is supported has no reasons', () => {
    expect(checkSupport(ctx, normalise({ q, k, v }).problem)).toEqual({ supported: true, reasons: [] });
    const { problem } = normaliseBackward({ q, k, v, o: dO, lse: exact.lse, dO });
    expect(checkSupport(ctx, problem)).toEqual({ supported: true, reasons: [] });
  });
});
