import { InvalidArgumentError, normalise, normaliseBackward, type SdpaOptions, Tensor } from '@tilewise/core';
import { openGpu, rewriteShaders } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { trackedDevice } from '../../testing/device/tracked-device.ts';
import { createContext, guaranteedCapabilities, planSdpa } from '../index.ts';
import { tableTile, tileCandidates, tilesFrom, tune } from './index.ts';
import type { TileDescription } from './tile-description.ts';

const q = Tensor.zeros([1, 1, 40, 8]);
const lse = Tensor.zeros([1, 1, 40]);
const forwardOf = (options?: SdpaOptions<Tensor>) => normalise({ q, k: q, v: q }, options).problem;

/** A device that compiles at once and computes nothing. */
async function nullDevice(): Promise<GPUDevice> {
  const { adapter } = await openGpu({ backend: 'null' });
  return adapter.requestDevice();
}

const square = (n: number): TileDescription => ({ tx: n, ty: n, headDimChunk: 8 });

test('each kernel of a problem gets a tile, and the memory of timing is freed', async () => {
  const { device, live } = await trackedDevice(await nullDevice());
  const ctx = await createContext({ device });
  const { problem } = normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, { causal: true });
  const tile = square(4);
  const candidates = { forward: [tile], dq: [tile], dkdv: [tile] };
  const { choice, timings } = await tune(ctx, problem, { candidates, seconds: 0 });
  expect(choice).toEqual({ forward: tile, dq: tile, dkdv: tile });
  expect(timings.map(({ role }) => role)).toEqual(['forward', 'dq', 'dkdv']);
  expect(live()).toEqual([]);

  const tuned = await createContext({ device, tiles: tilesFrom(JSON.parse(JSON.stringify(choice))) });
  expect(planSdpa(tuned, problem.forward).kernels[0].wgsl).toContain('@workgroup_size(16)');
});

test('once the time is spent, no more kernels are compiled; the first of each is timed', async () => {
  const ctx = await createContext({ device: await nullDevice() });
  const candidates = { forward: [square(8), square(4)] };
  const { timings, omitted } = await tune(ctx, forwardOf(), { seconds: 0, candidates });
  expect(timings).toMatchObject([{ role: 'forward', tile: square(8), rounds: 3 }]);
  expect(omitted).toEqual([{ role: 'forward', tile: square(4), reason: 'there was no time left' }]);
});

test('the fastest tile is chosen, but no tile whose results differ from those of the first', async () => {
  const { adapter } = await openGpu();
  // A driver that compiles the kernel on 16 lanes to a kernel that does nothing.
  rewriteShaders(adapter, wgsl => wgsl.replace(/@workgroup_size\(16\)[^{]*\{/, '$& if (true) { return; }'));
  const half = { tx: 8, ty: 8, headDimChunk: 8, stagingDType: 'f16' } as const;
  const tiles = [
    { tx: 4, ty: 2, headDimChunk: 8 },
    { tx: 2, ty: 2, headDimChunk: 8 },
    square(4),
    square(64),
    half,
  ];
  const ctx = await createContext({ device: await adapter.requestDevice() });
  const { choice, timings, omitted } = await tune(ctx, forwardOf(), {
    candidates: { forward: tiles },
    seconds: 1000,
  });
  expect(new Set(timings.map(({ tile }) => tile))).toEqual(new Set(tiles.slice(0, 2)));
  expect(choice).toEqual({ forward: timings[0].tile });
  expect(timings[0].ms).toBeLessThanOrEqual(timings[1].ms);
  expect(timings.every(({ least, ms, rounds }) => least > 0 && least <= ms && rounds >= 3)).toBe(true);
  expect(omitted.map(({ tile, reason }) => [tile, reason])).toEqual([
    [square(4), 'gives a different o from the first tile: off by 1.0 of the largest value'],
    [square(64), 'must have 1 to 256 lanes, got 4096'],
    [half, 'is for f16 operands, got f32'],
  ]);
});

test('candidates begin with the tile of the table, and are those that the device computes', () => {
  const problem = forwardOf();
  const least = tileCandidates('forward', problem, guaranteedCapabilities);
  expect(least).toContainEqual({ tx: 8, ty: 8, headDimChunk: 8 });
  expect(least).not.toContainEqual({ tx: 16, ty: 16, headDimChunk: 4 });
  const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;
  const able = {
    ...guaranteedCapabilities,
    maxComputeWorkgroupStorageSize: 65536,
    subgroupMatrixConfigs: [matrix],
  };
  const subgroups = { features: ['subgroups'], subgroupMinSize: 32, subgroupMaxSize: 32 };
  const most = tileCandidates('dkdv', problem, { ...able, ...subgroups });
  expect(most[0]).toEqual(tableTile('dkdv', problem, { ...able, ...subgroups }));
  expect(most[1]).toEqual({ kind: 'matrix', stationary: 'keys', subgroups: 4, matrix });
  expect(most).toContainEqual({ tx: 16, ty: 16, headDimChunk: 8 });
  expect(most).toContainEqual({ tx: 16, ty: 8, headDimChunk: 4, rows: 8 });
  expect(most).toContainEqual({ tx: 16, ty: 8, headDimChunk: 4, rows: 8, prefetch: true });
  expect(most).not.toContainEqual({ tx: 16, ty: 8, headDimChunk: 4 });
  expect(new Set(most.map(tile => JSON.stringify(tile))).size).toBe(most.length);
  const joined = { tx: 8, ty: 8, headDimChunk: 8, rowReduction: 'subgroup' };
  expect(most).not.toContainEqual(joined);
  expect(tileCandidates('forward', problem, { ...able, ...subgroups })).toContainEqual(joined);

  const small = { tx: 8, ty: 8, headDimChunk: 8, unrolled: true, subgroupSize: 8 };
  const sized = { ...able, features: ['subgroup-size-control'], subgroupMinSize: 8, subgroupMaxSize: 32 };
  expect(tileCandidates('dq', problem, sized)).toContainEqual(small);
  expect(tileCandidates('dq', problem, { ...sized, features: [] })).not.toContainEqual(small);
});

test('if shaders have f16, f16 operands are staged in f16, and forward is also tried with f16 arithmetic', () => {
  const x = Tensor.zeros([1, 1, 40, 8], { dtype: 'f16' });
  const { problem } = normalise({ q: x, k: x, v: x });
  const half = { ...guaranteedCapabilities, features: ['shader-f16'] };
  const tiles = tileCandidates('forward', problem, half);
  const held = { tx: 8, ty: 8, headDimChunk: 8, stagingDType: 'f16' };
  expect(tiles.slice(0, 2)).toEqual([tableTile('forward', problem, half), held]);
  expect(tiles).toContainEqual({ ...held, arithmetic: 'f16' });
  expect(tileCandidates('dq', problem, half)).not.toContainEqual({ ...held, arithmetic: 'f16' });
  expect(tileCandidates('forward', problem, guaranteedCapabilities)).not.toContainEqual(tiles[1]);
});

test.each<[string, SdpaOptions<Tensor>]>([
  ['8-bit', { fp8: { descaleQ: 1, descaleK: 1, descaleV: 1, descaleS: 1, scaleS: 1, scaleO: 1 } }],
  ['lengths', { seqLensKv: [30] }],
  ['block mask', { blockMask: Tensor.from([1], [1, 1, 1, 1], { dtype: 'u8' }) }],
])(
  'a problem is refused whose tiles are fixed, or whose tensors decide what is computed: %s',
  async (word, options) => {
    const dtype = options.fp8 ? 'f8e4m3' : 'f32';
    const x = Tensor.zeros([1, 1, 128, 16], { dtype });
    const { problem } = normalise({ q: x, k: x, v: x }, options);
    const refused = tune(await sharedContext(), problem);
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow(word);
  },
);

test('few queries have their own tile, in backward problems too', async () => {
  const { device } = await trackedDevice(await nullDevice());
  const ctx = await createContext({ device });
  const [few, keys] = [Tensor.zeros([1, 4, 3, 8]), Tensor.zeros([1, 1, 900, 8])];
  const { problem } = normalise({ q: few, k: keys, v: keys });
  const tiles = tileCandidates('decode', problem, guaranteedCapabilities);
  expect(tiles[0]).toEqual({ tx: 16, ty: 4, headDimChunk: 4, unrolled: true });
  expect(tiles.length).toBeGreaterThan(4);
  const candidates = { decode: [{ tx: 32, ty: 1, headDimChunk: 3 }, square(4)], dq: [square(4)] };
  const { choice, timings } = await tune(ctx, problem, { candidates, seconds: 0 });
  expect(timings[0]).toMatchObject({ role: 'decode', tile: candidates.decode[0] });
  const rows = Tensor.zeros([1, 4, 3]);
  const backward = normaliseBackward({ q: few, k: keys, v: keys, o: few, lse: rows, dO: few }).problem;
  const both = await tune(ctx, { ...backward, gradients: ['dq'] }, { candidates, seconds: 0 });
  expect(Object.keys(both.choice)).toEqual(['decode', 'dq']);

  const tuned = await createContext({ device, tiles: tilesFrom(JSON.parse(JSON.stringify(choice))) });
  expect(planSdpa(tuned, problem).kernels[0].wgsl).toContain('@workgroup_size(32)');
});

test('invalid arguments are refused before any work', async () => {
  const ctx = await sharedContext();
  await expect(tune(ctx, forwardOf(), { seconds: -1 })).rejects.toThrow('options.seconds');
  await expect(tune(ctx, forwardOf(), { candidates: { forward: [] } })).rejects.toThrow(
    'must be an array of at least one tile, got none',
  );
  const tile = { kind: 'subgroup', stationary: 'keys', lanes: 8, group: 4 } as const;
  await expect(tune(ctx, forwardOf(), { candidates: { forward: [tile] } })).rejects.toThrow(
    'options.candidates.forward[0]',
  );
});
