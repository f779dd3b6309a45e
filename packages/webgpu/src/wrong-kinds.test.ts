import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  normalise,
  normaliseBackward,
} from '@tilewise/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GoodCall, goodCall, k, lse, o, q, v } from '../testing/attention/good-call.ts';
import { storageBuffer } from '../testing/device/device-buffers.ts';
import { caught, expectError } from '../testing/expect-error.ts';
import {
  checkSupport,
  createContext,
  type GpuContext,
  mergePartials,
  planSdpa,
  planSdpaBackward,
  sdpa,
  sdpaBackward,
  sdpaVjp,
  warmUp,
  webgpuEngine,
} from './index.ts';
import { fp8, mxfp8 } from './subpaths/fp8.ts';
import { workgroupTile } from './subpaths/tiles.ts';
import { takeTrace } from './trace/index.ts';
import { baselineTile, gpuClock, modelTile, tableTile, tileCandidates, tune } from './tune/index.ts';

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
const buffer = (): GPUBuffer => storageBuffer(ctx.device, 64);
const encoder = (): GPUCommandEncoder => ctx.device.createCommandEncoder();
const plan = () => planSdpa(ctx, forward);

describe('an argument of another kind throws, naming it, and nothing is lost', () => {
  test.each<[string, () => unknown, typeof InvalidArgumentError | typeof InvalidShapeError, string]>([
    ['upload of an array', () => ctx.upload(any([1, 2])), InvalidArgumentError, 'tensor'],
    ['upload of nothing', () => ctx.upload(any(null)), InvalidArgumentError, 'tensor'],
    ['upload of a GpuTensor', () => ctx.upload(any(gpu.q)), InvalidArgumentError, 'tensor'],
    ['upload of numbers alone', () => ctx.upload(any({ data: [1] })), InvalidDTypeError, 'dtype'],
    ['release of nothing', () => ctx.release(any(undefined)), InvalidArgumentError, 'tensor'],
    ['release of a tensor on the host', () => ctx.release(any(q)), InvalidArgumentError, 'tensor'],
    ['a batch of no work', () => webgpuEngine(ctx).batch(any(null)), InvalidArgumentError, 'work'],
    ['a tile of nothing', () => workgroupTile(any(undefined)), InvalidArgumentError, 'shape'],
    ['fp8 of nothing', () => fp8(any(null)), InvalidArgumentError, 'scalars'],
    ['mxfp8 of nothing', () => mxfp8(any([])), InvalidArgumentError, 'operands'],
    ['a clock of a context', () => gpuClock(any(ctx)), InvalidArgumentError, 'device'],
    [
      'tiles of no kernel',
      () => tileCandidates(any('backward'), forward, ctx.capabilities),
      InvalidArgumentError,
      'role',
    ],
    [
      'tiles for no problem',
      () => tableTile('dq', any(null), ctx.capabilities),
      InvalidArgumentError,
      'problem',
    ],
    [
      'tiles for no device',
      () => tableTile('dq', forward, any(undefined)),
      InvalidArgumentError,
      'capabilities',
    ],
    [
      'tiles for a device without limits',
      () => tileCandidates('dq', forward, any({ adapter: '' })),
      InvalidArgumentError,
      'capabilities.maxStorageBuffersPerShaderStage',
    ],
    [
      'the model of few queries',
      () => modelTile(any('decode'), forward, baselineTile, ctx.capabilities),
      InvalidArgumentError,
      'role',
    ],
    [
      'the model of an unknown tile',
      () => modelTile('dq', forward, any({ kind: 'square' }), ctx.capabilities),
      InvalidArgumentError,
      'tile',
    ],
    [
      'the model of no adapter',
      () => modelTile('dq', forward, baselineTile, any({})),
      InvalidArgumentError,
      'capabilities.adapter',
    ],
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
      'a seed that is not words',
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

  test.each<[string, (none: GpuContext) => unknown]>([
    ['sdpa', none => sdpa(none, gpu.q, gpu.k, gpu.v)],
    ['sdpaBackward', none => sdpaBackward(none, gpu)],
    ['sdpaVjp', none => sdpaVjp(none, gpu.q, gpu.k, gpu.v)],
    ['mergePartials', none => mergePartials(none, [gpu])],
    ['planSdpa', none => planSdpa(none, forward)],
    ['planSdpaBackward', none => planSdpaBackward(none, backward)],
    ['checkSupport', none => checkSupport(none, forward)],
    ['webgpuEngine', none => webgpuEngine(none)],
  ])('%s without a context', (_, call) => {
    for (const none of [undefined, null, 3, {}, gpu.q, ctx.device]) {
      expectError(
        caught(() => call(any(none))),
        InvalidArgumentError,
        'ctx',
        /must be a GpuContext, got/,
      );
    }
  });

  test.each<[string, unknown[], string]>([
    ['no context', [undefined, forward], 'ctx'],
    ['no problem', [null], 'problem'],
    ['null as options', [forward, null], 'options'],
    ['an array as candidates', [forward, { candidates: [] }], 'options.candidates'],
    ['a misspelt option', [forward, { second: 1 }], 'second'],
    ['candidates for no kernel', [forward, { candidates: { dkv: [] } }], 'options.candidates.dkv'],
    ['one candidate', [forward, { candidates: { forward: baselineTile } }], 'options.candidates.forward'],
    ['a time in words', [forward, { seconds: '5' }], 'options.seconds'],
  ])('tuning of %s', async (_, given, argument) => {
    const all = argument === 'ctx' ? given : [ctx, ...given];
    const error = await tune(...(all as Parameters<typeof tune>)).catch((e: unknown) => e);
    expectError(error, InvalidArgumentError, argument, /must be |is not an option/);
  });

  test('taking the kernels of a value that is not a trace', async () => {
    const error = await takeTrace(any(ctx)).catch((e: unknown) => e);
    expectError(error, InvalidArgumentError, 'trace', /must be made by createTrace, got GpuContext/);
  });

  test.each<[string, unknown, string]>([
    ['one problem', forward, 'problems'],
    ['nothing', undefined, 'problems'],
    ['null in the list', [null], 'problem'],
    ['a name in the list', ['forward'], 'problem'],
  ])('compiling %s beforehand', async (_, problems, argument) => {
    const error = await warmUp(ctx, any(problems)).catch((e: unknown) => e);
    expectError(error, InvalidArgumentError, argument, /must be /);
  });

  test('a view without strides has no gaps', () => {
    expect(ctx.view(gpu.q, { shape: [2, 3] }).strides).toEqual([3, 1]);
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
