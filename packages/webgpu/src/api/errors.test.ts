import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  normalise,
  Tensor,
} from '@tilewise/core';
import { modOf, score } from '@tilewise/core/expr';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GoodCall, goodCall, k, q, shape, v } from '../../testing/attention/good-call.ts';
import { callersDevice, storageBuffer } from '../../testing/device/device-buffers.ts';
import { caught, expectError } from '../../testing/expect-error.ts';
import { createContext, type GpuContext, type GpuTensor, planSdpa, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
let gpu: GoodCall['gpu'];
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, gpu, expectIntact } = await goodCall());
});
afterEach(() => expectIntact());

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
      'score mod without the functions of one',
      () => sdpa(ctx, gpu.q, gpu.k, gpu.v, { scoreMod: { ...modOf(score), tools: 1 as never } }),
      InvalidArgumentError,
      'scoreMod',
      /must be made by scoreMod/,
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
      'input of a name that there is not',
      () => sdpaBackward(ctx, { ...gpu, ...{ dlse: gpu.lse } }),
      InvalidArgumentError,
      'dlse',
      /is not an input; did you mean dLse\?/,
    ],
    [
      'tensors one by one, as sdpa takes them',
      () => sdpaBackward(ctx, gpu.q as never, gpu.k as never),
      InvalidArgumentError,
      'inputs',
      /must be an object of tensors, as in { q, k, v }/,
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

  test('an invalid order of dimensions', () => {
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
