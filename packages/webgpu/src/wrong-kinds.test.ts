import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  normalise,
  normaliseBackward,
} from '@tilewise/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storageBuffer } from '../testing/device-buffers.ts';
import { caught, expectError } from '../testing/expect-error.ts';
import { type GoodCall, goodCall, k, lse, o, q, v } from '../testing/good-call.ts';
import {
  checkSupport,
  createContext,
  type GpuContext,
  planSdpa,
  planSdpaBackward,
  sdpaBackward,
} from './index.ts';

let ctx: GpuContext;
let gpu: GoodCall['gpu'];
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, gpu, expectIntact } = await goodCall());
});
afterAll(() => expectIntact());

const forward = normalise({ q, k, v }).problem;
const backward = normaliseBackward({ q, k, v, o, lse, dO: o }).problem;
/** What JavaScript can pass whatever the types say. */
const any = (value: unknown): never => value as never;
const buffer = (): GPUBuffer => storageBuffer(ctx.device, 64);
const encoder = (): GPUCommandEncoder => ctx.device.createCommandEncoder();
const plan = () => planSdpa(ctx, forward);

describe('an argument of another kind throws, naming it, and nothing is lost', () => {
  test.each<[string, () => unknown, typeof InvalidArgumentError | typeof InvalidShapeError, string]>([
    ['upload of an array', () => ctx.upload(any([1, 2])), InvalidArgumentError, 'tensor'],
    ['upload of nothing', () => ctx.upload(any(null)), InvalidArgumentError, 'tensor'],
    ['upload of a GpuTensor', () => ctx.upload(any(gpu.q)), InvalidArgumentError, 'tensor'],
    ['upload of numbers alone', () => ctx.upload(any({ data: [1] })), InvalidDTypeError, 'dtype'],
    [
      'a view of nothing',
      () => ctx.view(any(null), { shape: [1], strides: [1] }),
      InvalidArgumentError,
      'tensor',
    ],
    ['a view of no shape', () => ctx.view(gpu.q, any(undefined)), InvalidArgumentError, 'desc'],
    ['null as options of a plan', () => planSdpa(ctx, forward, any(null)), InvalidArgumentError, 'options'],
    [
      'null as options of encode',
      () => plan().encode(encoder(), {}, any(null)),
      InvalidArgumentError,
      'options',
    ],
    [
      'a seed that is no words',
      () => plan().encode(encoder(), {}, any({ seed: null })),
      InvalidArgumentError,
      'options.seed',
    ],
    [
      'wrap of no buffer',
      () => ctx.wrap(any({}), { dtype: 'f32', shape: [1] }),
      InvalidArgumentError,
      'buffer',
    ],
    ['wrap without a description', () => ctx.wrap(buffer(), any(undefined)), InvalidArgumentError, 'desc'],
    ['wrap as f64', () => ctx.wrap(buffer(), any({ dtype: 'f64', shape: [1] })), InvalidDTypeError, 'dtype'],
    ['wrap without a shape', () => ctx.wrap(buffer(), any({ dtype: 'f32' })), InvalidShapeError, 'shape'],
    ['allocate of f64', () => ctx.allocate([1], any('f64')), InvalidDTypeError, 'dtype'],
    ['allocate without a shape', () => ctx.allocate(any(undefined), 'f32'), InvalidShapeError, 'shape'],
    ['a plan of nothing', () => planSdpa(ctx, any(undefined)), InvalidArgumentError, 'problem'],
    ['a plan of no problem', () => planSdpa(ctx, any({})), InvalidArgumentError, 'problem'],
    ['a plan of a backward problem', () => planSdpa(ctx, any(backward)), InvalidArgumentError, 'problem'],
    [
      'backward of a forward problem',
      () => planSdpaBackward(ctx, any(forward)),
      InvalidArgumentError,
      'problem',
    ],
    ['checkSupport of no problem', () => checkSupport(ctx, any({})), InvalidArgumentError, 'problem'],
    ['backward without inputs', () => sdpaBackward(ctx, any(null)), InvalidArgumentError, 'inputs'],
    ['encode into no encoder', () => plan().encode(any({}), {}), InvalidArgumentError, 'target'],
    [
      'encode without buffers',
      () => plan().encode(encoder(), any(undefined)),
      InvalidArgumentError,
      'buffers',
    ],
    [
      'a string as a buffer',
      () => plan().encode(encoder(), any({ q: 'q' })),
      InvalidArgumentError,
      'buffers.q',
    ],
    [
      'a slice of no buffer',
      () => plan().encode(encoder(), any({ q: { buffer: null } })),
      InvalidArgumentError,
      'buffers.q',
    ],
  ])('%s', (_, call, kind, argument) => {
    const { current } = ctx.memory;
    expectError(caught(call), kind, argument, /must (be|hold) /);
    expect(ctx.memory.current).toBe(current);
  });

  test.each([
    ['no options', null, 'options'],
    ['a device that is none', { device: {} }, 'device'],
    ['an adapter that is none', { adapter: {} }, 'adapter'],
  ])('a context of %s', async (_, options, argument) => {
    const error = await createContext(any(options)).catch((e: unknown) => e);
    expectError(error, InvalidArgumentError, argument, /must be /);
  });
});
