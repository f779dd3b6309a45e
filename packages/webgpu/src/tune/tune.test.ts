import { InvalidArgumentError, normalise, normaliseBackward, type SdpaOptions, Tensor } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/shared-context.ts';
import { trackedDevice } from '../../testing/tracked-device.ts';
import { createContext, guaranteedCapabilities, planSdpa } from '../index.ts';
import { tileCandidates, tilesFrom, tune } from './index.ts';
import type { TileDescription } from './tile-description.ts';

const q = Tensor.zeros([1, 1, 40, 8]);
const lse = Tensor.zeros([1, 1, 40]);
const forwardOf = (options?: SdpaOptions<Tensor>) => normalise({ q, k: q, v: q }, options).problem;

test('the fastest of the tiles is chosen, and what timing took is given back', async () => {
  // Compiles in no time, and computes nothing: what is fastest does not matter here.
  const { adapter } = await openGpu({ backend: 'null' });
  const { device, live } = await trackedDevice(await adapter.requestDevice());
  const ctx = await createContext({ device });
  const { problem } = normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, { causal: true });
  const tiles: TileDescription[] = [
    { tx: 8, ty: 8, depth: 8 },
    { tx: 4, ty: 4, depth: 8 },
    { tx: 64, ty: 64, depth: 8 },
  ];
  const candidates = { forward: tiles, dq: tiles, dkdv: tiles };
  const tuning = await tune(ctx, problem, { candidates, seconds: 1000 });
  expect(tuning.clock).toBe(device.features.has('timestamp-query') ? 'timestamps' : 'wall clock');
  for (const role of ['forward', 'dq', 'dkdv'] as const) {
    const timings = tuning.timings.filter(timing => timing.role === role);
    expect(new Set(timings.map(({ tile }) => tile))).toEqual(new Set(tiles.slice(0, 2)));
    expect(tuning.choice[role]).toBe(timings[0].tile);
    expect(timings[0].ms).toBeLessThanOrEqual(timings[1].ms);
    expect(timings.every(({ least, ms, rounds }) => least >= 0 && least <= ms && rounds >= 3)).toBe(true);
  }
  expect(tuning.omitted.map(({ role, reason }) => [role, reason])).toEqual(
    ['forward', 'dq', 'dkdv'].map(role => [role, 'must have at most 256 lanes, got 4096']),
  );
  expect(live()).toEqual([]);

  const tuned = await createContext({ device, tiles: tilesFrom(JSON.parse(JSON.stringify(tuning.choice))) });
  const [{ wgsl }] = planSdpa(tuned, problem.forward).kernels;
  const { tx, ty } = tuning.choice.forward as { tx: number; ty: number };
  expect(wgsl).toContain(`@workgroup_size(${tx * ty}`);
});

test('once the time is spent, no more kernels are compiled; the first of each is timed', async () => {
  const tiles: TileDescription[] = [
    { tx: 8, ty: 8, depth: 8 },
    { tx: 4, ty: 4, depth: 4 },
  ];
  const { timings, omitted } = await tune(await sharedContext(), forwardOf(), {
    seconds: 0,
    candidates: { forward: tiles },
  });
  expect(timings).toMatchObject([{ role: 'forward', tile: tiles[0], rounds: 3 }]);
  expect(omitted).toEqual([{ role: 'forward', tile: tiles[1], reason: 'there was no time left' }]);
});

test('candidates begin with the tile of the table, and are those that the device computes', () => {
  const problem = forwardOf();
  const least = tileCandidates('forward', problem, guaranteedCapabilities);
  expect(least).toContainEqual({ tx: 8, ty: 8, depth: 8 });
  expect(least).not.toContainEqual({ tx: 16, ty: 16, depth: 4 });
  const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;
  const able = { ...guaranteedCapabilities, maxComputeWorkgroupStorageSize: 65536, matrices: [matrix] };
  const subgroups = { subgroupMinSize: 32, subgroupMaxSize: 32 };
  const most = tileCandidates('dkdv', problem, { ...able, ...subgroups });
  expect(most[0]).toEqual({ tx: 8, ty: 8, depth: 8 });
  expect(most[1]).toEqual({ through: 'matrix', own: 'keys', subgroups: 4, matrix });
  expect(most).toContainEqual({ tx: 16, ty: 16, depth: 8 });
  expect(most).not.toContainEqual({ tx: 16, ty: 8, depth: 4 });
  expect(new Set(most.map(tile => JSON.stringify(tile))).size).toBe(most.length);
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

test('arguments that cannot be are refused before any work', async () => {
  const ctx = await sharedContext();
  const few = Tensor.zeros([1, 1, 16, 8]);
  const { problem } = normalise({ q: few, k: few, v: few });
  await expect(tune(ctx, problem)).rejects.toThrow('more than 16 queries');
  await expect(tune(ctx, forwardOf(), { seconds: -1 })).rejects.toThrow('options.seconds');
  await expect(tune(ctx, forwardOf(), { candidates: { forward: [] } })).rejects.toThrow('must hold a tile');
  const tile = { through: 'subgroup', own: 'keys', lanes: 8, group: 4 } as const;
  await expect(tune(ctx, forwardOf(), { candidates: { forward: [tile] } })).rejects.toThrow(
    'options.candidates.forward[0]',
  );
});
