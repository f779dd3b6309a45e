import {
  InvalidArgumentError,
  InvalidShapeError,
  normalise,
  normaliseBackward,
  Tensor,
} from '@tilewise/core';
import { afterEach, beforeAll, describe, test } from 'vitest';
import { dO, type GoodCall, goodCall, k, lse, q, v } from '../../testing/attention/good-call.ts';
import { storageBuffer } from '../../testing/device/device-buffers.ts';
import { caught, expectError } from '../../testing/expect-error.ts';
import { type EncodeOptions, type GpuContext, planSdpa, planSdpaBackward } from '../index.ts';

let ctx: GpuContext;
let gpu: GoodCall['gpu'];
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, gpu, expectIntact } = await goodCall());
});
afterEach(() => expectIntact());

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

  test('is not recorded if it ends within the last word of its tensor', () => {
    const odd = Tensor.zeros([1, 1, 3, 5], { dtype: 'f16' });
    const plan = planSdpa(ctx, normalise({ q: odd, k: odd, v: odd }).problem);
    const buffers = Object.fromEntries(
      plan.tensors.map(({ name, bytes: size }) => [name, ctx.device.createBuffer({ size, usage: 0x80 })]),
    );
    const error = caught(() => plan.encode(ctx.device.createCommandEncoder(), buffers));
    expectError(error, InvalidShapeError, 'buffers.q', /30 bytes.* so a buffer of 32, got 30/);
  });
});

test('seeds and offsets that are not 64-bit integers are refused', () => {
  const plan = planSdpa(ctx, normalise({ q, k, v }, { dropout: { p: 0.5, seed: 1 } }).problem);
  const encode = (options: EncodeOptions): unknown =>
    caught(() => plan.encode(ctx.device.createCommandEncoder(), { ...gpu, o: gpu.o, lse: gpu.lse }, options));
  expectError(encode({ seed: [2 ** 32, 0] }), InvalidArgumentError, 'options.seed', /got \[4294967296,0\]/);
  expectError(encode({ seed: [-1, 0] }), InvalidArgumentError, 'options.seed', /got \[-1,0\]/);
  expectError(encode({ offset: [0, 0.5] }), InvalidArgumentError, 'options.offset', /got \[0,0\.5\]/);
  expectError(
    encode({ seed: -1 }),
    InvalidArgumentError,
    'options.seed',
    /bigint or a safe integer.* got -1/,
  );
  expectError(encode({ offset: 2n ** 64n }), InvalidArgumentError, 'options.offset', /18446744073709551616/);
});

test('a workspace that is missing or too small is refused', () => {
  const { problem } = normaliseBackward({ q, k, v, o: dO, lse, dO });
  const plan = planSdpaBackward(ctx, problem);
  const buffers = Object.fromEntries(
    plan.tensors.map(({ name, bytes }) => [name, storageBuffer(ctx.device, bytes)]),
  );
  const encode = (more: object): unknown =>
    caught(() => plan.encode(ctx.device.createCommandEncoder(), { ...buffers, ...more }));
  expectError(encode({}), InvalidArgumentError, 'buffers.workspace', /is missing$/);
  expectError(
    encode({ wrokspace: storageBuffer(ctx.device, plan.workspaceBytes) }),
    InvalidArgumentError,
    'buffers.workspace',
    /is missing; is it buffers\.wrokspace\?/,
  );
  const small = storageBuffer(ctx.device, plan.workspaceBytes - 8);
  expectError(encode({ workspace: small }), InvalidShapeError, 'buffers.workspace', /640 bytes/);
});
