import { normalise, normaliseBackward, Tensor, TilewiseError } from '@tilewise/core';
import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Mutation, mutations } from '../../core/testing/mutations.ts';
import { storageBuffer } from '../testing/device/device-buffers.ts';
import {
  checkSupport,
  createContext,
  type GpuContext,
  type GpuTensor,
  mergePartials,
  planSdpa,
  planSdpaBackward,
  sdpa,
  sdpaBackward,
  sdpaVjp,
  webgpuEngine,
} from './index.ts';
import { fp8, mxfp8 } from './subpaths/fp8.ts';
import { matrixTile } from './subpaths/matrix.ts';
import { subgroupTile, workgroupTile } from './subpaths/tiles.ts';
import { tilesFrom } from './tune/index.ts';

// The null backend checks every call as a device does, but compiles and runs nothing.
let ctx: GpuContext;
let q: GpuTensor;
let o: GpuTensor;
let lse: GpuTensor;
let q8: GpuTensor;
beforeAll(async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  ctx = await createContext({ adapter });
  q = ctx.upload(host);
  q8 = ctx.upload(Tensor.zeros(host.shape, { dtype: 'f8e4m3' }));
  ({ o, lse } = sdpa(ctx, q, q, q));
});
afterAll(() => ctx.destroy());

const host = Tensor.zeros([1, 2, 8, 8]);
const row = Tensor.zeros([1, 2, 8]);
const forward = normalise({ q: host, k: host, v: host }, { causal: true }).problem;
const backward = normaliseBackward({ q: host, k: host, v: host, o: host, lse: row, dO: host }).problem;

/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;
const options = (): object => ({
  ...{ scale: 0.5, causal: true, window: { left: 2, right: 0 }, softcap: 3, alibi: true },
  ...{ bias: Tensor.zeros([8, 8]), mask: Tensor.zeros([8, 8], { dtype: 'bool' }), outDType: 'f16' },
  ...{ dropout: { p: 0.5, seed: 3n, offset: 4, scheme: 'onednn' }, outputs: { max: true, sumExp: true } },
});
const layouts = { dq: backward.dq, dk: backward.dk, dv: backward.dv };
const slices = (): object => ({ q, k: q, v: q, o, lse });
const encode = (buffers: unknown, numbers: unknown): void =>
  planSdpa(ctx, forward).encode(ctx.device.createCommandEncoder(), any(buffers), any(numbers));
const words = { seed: [1, 2], offset: [3, 4], scale: 0.5 };

/** Named calls, each with arguments that it accepts. Destroying the returned values undoes each call. */
const calls: readonly [string, base: () => unknown, call: (given: unknown) => unknown][] = [
  ['sdpa', options, given => sdpa(ctx, q, q, q, any(given))],
  [
    'sdpaBackward',
    () => ({ ...options(), gradients: ['dq', 'dk'] }),
    given => sdpaBackward(ctx, { q, k: q, v: q, o, lse, dO: q }, any(given)),
  ],
  ['sdpaBackward inputs', () => ({ q, k: q, v: q, o, lse, dO: q }), given => sdpaBackward(ctx, any(given))],
  ['sdpaVjp', options, given => sdpaVjp(ctx, q, q, q, any(given)).release()],
  [
    'mergePartials',
    () => [
      { o, lse },
      { o, lse },
    ],
    given => mergePartials(ctx, any(given)),
  ],
  ['planSdpa', () => ({ unaligned: ['q', 'k'] }), given => planSdpa(ctx, forward, any(given))],
  ['planSdpa of a problem', () => forward, given => planSdpa(ctx, any(given))],
  [
    'planSdpaBackward',
    () => ({ unaligned: ['q'], layouts }),
    given => planSdpaBackward(ctx, backward, any(given)),
  ],
  ['planSdpaBackward of a problem', () => backward, given => planSdpaBackward(ctx, any(given))],
  ['checkSupport', () => forward, given => checkSupport(ctx, any(given))],
  ['encode buffers', slices, given => encode(given, undefined)],
  ['encode options', () => words, given => encode(slices(), given)],
  ['upload', () => ({ ...Tensor.zeros([2, 3]), data: new Float32Array(6) }), given => ctx.upload(any(given))],
  ['allocate', () => [[2, 3], 'f32', [3, 1]], given => ctx.allocate(...(given as [never, never, never]))],
  [
    'wrap',
    () => ({ dtype: 'f32', shape: [2, 3], strides: [3, 1], offset: 16 }),
    given => ctx.wrap(storageBuffer(ctx.device, 64), any(given)),
  ],
  ['view', () => ({ shape: [2, 3], strides: [3, 1], offset: 2 }), given => ctx.view(q, any(given))],
  ['permute', () => [0, 1, 3, 2], given => q.permute(...(given as never[]))],
  ['prepareAttention', () => forward, given => webgpuEngine(ctx).prepareAttention?.(any(given))],
  ['fp8', () => ({ descaleQ: 0.5, scaleS: 2 }), given => sdpa(ctx, q8, q8, q8, { fp8: fp8(any(given)) })],
  ['mxfp8', () => ({ descaleQ: host, layout: 'row-major' }), given => mxfp8(any(given))],
  [
    'workgroupTile',
    () => ({ tx: 8, ty: 8, headDimChunk: 8, rows: 4, stagingDType: 'f16', prefetch: true }),
    given => workgroupTile(any(given)),
  ],
  [
    'subgroupTile',
    () => ({ stationary: 'queries', lanes: 8, group: 8, rows: 4 }),
    given => subgroupTile(any(given)),
  ],
  [
    'matrixTile',
    () => ({ stationary: 'queries', subgroups: 2, matrix: { M: 16, N: 16, K: 16, component: 'f16' } }),
    given => matrixTile(any(given)),
  ],
  [
    'tilesFrom',
    () => ({ forward: { tx: 8, ty: 8, headDimChunk: 8 }, dq: { tx: 8, ty: 8, headDimChunk: 8 } }),
    given => tilesFrom(any(given)),
  ],
];

/** The error that a call threw, or null. */
function thrown(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}

/**
 * @throws unless the mutated call is quick, throws only errors of this library, and refuses unknown fields.
 */
function check(
  name: string,
  base: unknown,
  { change, path, now }: Mutation,
  error: unknown,
  ms: number,
): void {
  const told = `${name}: ${change}`;
  if (error !== null) expect(error, told).toBeInstanceOf(TilewiseError);
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], base);
  if (path.at(-1) === 'unheardOf' && now !== undefined && isPlain(holder) && !mayHaveOthers.test(name)) {
    expect(error, `${told} is accepted`).not.toBeNull();
  }
  expect(ms, told).toBeLessThan(2000);
}

/**
 * Arguments that may have unknown fields: the buffers of two plans may be shared; a tensor may have fields of
 * its own; `mxfp8` is checked by the call that takes it; a part may be a result of `sdpa` with more outputs
 * than o and lse.
 */
const mayHaveOthers = /^(encode buffers|upload|mxfp8|mergePartials)$/;

const isPlain = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;

const { seed, count, timeout } = fuzzRun(100, 1);

describe(`mutated arguments of seed ${seed} are refused by a typed error, or accepted`, {
  timeout,
}, () => {
  test.each(calls)('%s', async (name, base, call) => {
    await ctx.submitted();
    expect(
      thrown(() => call(base())),
      'as it stands',
    ).toBeNull();
    for (const mutation of mutations(base(), count, seed)) {
      const start = processorTime();
      const error = thrown(() => call(mutation.value));
      check(name, base(), mutation, error, processorTime() - start);
    }
  });

  test('createContext', async () => {
    const { device } = ctx;
    const base = {
      device,
      maxIdleBytes: 1024,
      tiles: () => null,
      onLeak: () => {},
      powerPreference: 'low-power',
    };
    for (const mutation of mutations(base, count, seed)) {
      if (mutation.path[0] === 'device' && mutation.path.length > 1) continue;
      const start = processorTime();
      const error = await createContext(any(mutation.value)).then(
        made => {
          if (made.device === device) made.destroy();
          return null;
        },
        (error: unknown) => error,
      );
      check('createContext', base, mutation, error, processorTime() - start);
    }
  });
});
