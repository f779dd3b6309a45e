import { InvalidArgumentError, normalise, normaliseBackward } from '@tilewise/core';
import { afterAll, beforeAll, test } from 'vitest';
import { type GoodCall, goodCall, k, lse, o, q, v } from '../testing/attention/good-call.ts';
import { storageBuffer } from '../testing/device/device-buffers.ts';
import { caught, expectError } from '../testing/expect-error.ts';
import { diagnose } from './doctor/index.ts';
import { createContext, type GpuContext, planSdpa, planSdpaBackward } from './index.ts';

let ctx: GpuContext;
let gpu: GoodCall['gpu'];
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, gpu, expectIntact } = await goodCall());
});
afterAll(() => expectIntact());

const forward = normalise({ q, k, v }).problem;
const backward = normaliseBackward({ q, k, v, o, lse, dO: o }).problem;
/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;
const encode = (options: object): void =>
  planSdpa(ctx, forward).encode(
    ctx.device.createCommandEncoder(),
    { q: gpu.q, k: gpu.k, v: gpu.v, o: ctx.allocate(o.shape, 'f32'), lse: ctx.allocate(lse.shape, 'f32') },
    any(options),
  );

test.each<[string, string, () => unknown]>([
  [
    'wrap',
    'desc.stride',
    () => ctx.wrap(storageBuffer(ctx.device, 64), any({ dtype: 'f32', shape: [4], stride: [1] })),
  ],
  ['view', 'desc.offsets', () => ctx.view(gpu.q, any({ shape: [4], offsets: 1 }))],
  ['planSdpa', 'unalined', () => planSdpa(ctx, forward, any({ unalined: ['q'] }))],
  ['planSdpaBackward', 'layout', () => planSdpaBackward(ctx, backward, any({ layout: {} }))],
  ['encode', 'sede', () => encode({ sede: [1, 0] })],
])('an option that %s does not have is an error: %s', (_, name, call) => {
  expectError(caught(call), InvalidArgumentError, name, /is not an option; the options are/);
});

test.each<[string, () => Promise<unknown>, string]>([
  ['createContext', () => createContext(any({ devize: ctx.device })), 'devize'],
  ['diagnose', () => diagnose(any({ adaptor: null })), 'adaptor'],
])('an option that %s does not have rejects', async (_, call, name) => {
  expectError(
    await call().catch((e: unknown) => e),
    InvalidArgumentError,
    name,
    /is not an option; the options are/,
  );
});

test.each<[string, unknown, RegExp]>([
  ['a name of no tensor', ['zzz'], /such as q, k and o, got "zzz"/],
  ['a number', 5, /must be an array of tensor names/],
  ['one name as a string', 'q', /must be an array of tensor names/],
])('unaligned: %s', (_, unaligned, message) => {
  expectError(
    caught(() => planSdpa(ctx, forward, any({ unaligned }))),
    InvalidArgumentError,
    'options.unaligned',
    message,
  );
});
