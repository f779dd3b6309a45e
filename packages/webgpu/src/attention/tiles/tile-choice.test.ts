import { normalise, Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention-call.ts';
import { expectAgreement } from '../../../testing/expect-agreement.ts';
import { sharedContext } from '../../../testing/shared-context.ts';
import { type Capabilities, checkSupport, createContext, guaranteedCapabilities } from '../../index.ts';
import { forwardShape } from '../kernels/forward/forward-shape.ts';
import { matrixTile } from './matrix/matrix-tile.ts';
import type { Tile } from './tile.ts';
import { tileReason, unsuitedReason } from './tile-choice.ts';
import { defaultTile } from './tile-table.ts';
import { workgroupTileMemory } from './workgroup/memory.ts';
import { workgroupTile } from './workgroup/workgroup-tile.ts';

const matrix = { M: 16, N: 16, K: 16, component: 'f16' } as const;
const capable: Capabilities = {
  ...guaranteedCapabilities,
  ...{
    subgroupMinSize: 32,
    subgroupMaxSize: 32,
    subgroupMatrixConfigs: [matrix],
    maxComputeWorkgroupStorageSize: 32768,
  },
};

const problemOf = (D: number, p = 0, dtype: 'f16' | 'f32' = 'f16') => {
  const x = Tensor.zeros([1, 1, 40, D], { dtype });
  return normalise({ q: x, k: x, v: x }, { dropout: p ? { p, seed: 1n } : undefined }).problem;
};

describe('a tile is refused with a reason', () => {
  test.each<[what: string, tile: Tile, reason: RegExp]>([
    ['of more lanes than a workgroup has', { tx: 32, ty: 16, depth: 4 }, /1 to 256 lanes/],
    ['of no lanes', { through: 'subgroup', own: 'queries', lanes: 0, group: 8 }, /1 to 256 lanes/],
    ['of half a lane', { tx: 2.5, ty: 2, depth: 4 }, /whole numbers/],
    [
      'that names its arithmetic',
      { ...defaultTile, arithmetic: 'f16' } as unknown as Tile,
      /made by workgroupTile .* brings arithmetic/,
    ],
    ['that asks for prefetch', { ...defaultTile, prefetch: true } as Tile, /brings prefetch/],
    ['that names its statistics', { ...defaultTile, statistics: 'subgroup' } as Tile, /brings statistics/],
    ['of lanes with six rows', { ...defaultTile, rows: 6 } as unknown as Tile, /4 or 8 rows/],
    [
      'with more of a result per lane than registers',
      { tx: 1, ty: 8, depth: 64 },
      /1024 numbers of a result per lane, at most 256/,
    ],
    [
      'that prefetches more than registers hold',
      workgroupTile({ tx: 4, ty: 4, depth: 16, prefetch: true }),
      /prefetches 136 numbers/,
    ],
    ['too flat for a row of a result', { tx: 2, ty: 2, depth: 1 }, /256 channels/],
    ['of too much memory', { tx: 16, ty: 16, depth: 16 }, /bytes of workgroup memory/],
    [
      'that reads by lanes that are not there',
      { through: 'subgroup', own: 'queries', lanes: 6, group: 4 },
      /multiples/,
    ],
    [
      'of a subgroup whose lanes keep six rows',
      { through: 'subgroup', own: 'queries', lanes: 8, group: 8, rows: 6 } as unknown as Tile,
      /4 rows, or of 8/,
    ],
    [
      'that keeps the other side',
      { through: 'subgroup', own: 'keys', lanes: 8, group: 8 },
      /must keep queries/,
    ],
    ['of f16 where shaders have none', { ...defaultTile, pool: 'f16' }, /shader-f16/],
    [
      'that multiplies in f16 what it holds in f32',
      workgroupTile({ ...defaultTile, arithmetic: 'f16' }),
      /hold in f16/,
    ],
  ])('%s', (_, tile, reason) => {
    const D = tile.through ? 64 : 256;
    expect(
      tileReason('forward', tile, problemOf(D), { ...capable, maxComputeWorkgroupStorageSize: 16384 }),
    ).toMatch(reason);
  });

  test('for forward, where it has no room to join rows; gradients join none', () => {
    const tile = { tx: 16, ty: 16, depth: 4 };
    const room = { ...capable, maxComputeWorkgroupStorageSize: workgroupTileMemory(tile, 'dq') };
    expect(tileReason('forward', tile, problemOf(64), room)).toMatch(/bytes of workgroup memory/);
    expect(tileReason('dq', tile, problemOf(64), room)).toBeNull();
    expect(tileReason('dkdv', tile, problemOf(64), room)).toBeNull();
  });

  test('for dK/dV, unless it has as many queries as keys', () => {
    const reasonOf = (tile: Tile) => tileReason('dkdv', tile, problemOf(64), capable);
    expect(reasonOf({ tx: 8, ty: 4, depth: 8 })).toMatch(/as many queries/);
    expect(reasonOf({ tx: 8, ty: 4, depth: 8, rows: 8 })).toBeNull();
  });

  test('for f16 arithmetic, unless it is of forward and in sums that cannot overflow', () => {
    const tile = workgroupTile({ ...defaultTile, pool: 'f16', arithmetic: 'f16' });
    const half = { ...capable, features: ['shader-f16'] };
    expect(tileReason('forward', tile, problemOf(64), half)).toBeNull();
    expect(tileReason('dq', tile, problemOf(64), half)).toMatch(/in f32/);
    expect(tileReason('forward', { ...tile, depth: 9 }, problemOf(64), half)).toMatch(/depth of at most 8/);
  });

  test('for subgroup statistics, unless rows and workgroups are whole subgroups, or parts of one', () => {
    const tile = (tx: number, ty: number) => workgroupTile({ tx, ty, depth: 8, statistics: 'subgroup' });
    const able: Capabilities = { ...capable, features: ['subgroups'], subgroupMinSize: 8 };
    const reasonOf = (made: Tile, capabilities = able) =>
      tileReason('forward', made, problemOf(64), capabilities);
    expect(reasonOf(tile(8, 4))).toBeNull();
    expect(reasonOf(tile(8, 4), capable)).toMatch(/feature subgroups/);
    expect(reasonOf(tile(16, 8))).toMatch(/a power of two up to 8/);
    expect(reasonOf(tile(6, 16))).toMatch(/power of two/);
    expect(reasonOf(tile(8, 6))).toMatch(/lanes in multiples of 32/);
    expect(tileReason('dq', tile(8, 4), problemOf(64), able)).toMatch(/gradients join no rows/);
  });

  test('of matrices or subgroups that the device does not have', () => {
    const tile = matrixTile({ own: 'queries', subgroups: 2, matrix });
    expect(tileReason('forward', tile, problemOf(64), capable)).toBeNull();
    expect(tileReason('forward', tile, problemOf(64), { ...capable, subgroupMatrixConfigs: [] })).toMatch(
      /subgroup matrices/,
    );
    const others = { ...capable, subgroupMinSize: 16, subgroupMaxSize: 64 };
    expect(tileReason('forward', tile, problemOf(64), others)).toMatch(/of 32 lanes/);
    const pinned = matrixTile({ own: 'queries', subgroups: 2, matrix, pinned: true });
    expect(tileReason('forward', pinned, problemOf(64), others)).toMatch(/feature subgroup-size-control/);
    const able = { ...others, features: [...capable.features, 'subgroup-size-control'] };
    expect(tileReason('forward', pinned, problemOf(64), able)).toBeNull();
    expect(tileReason('forward', pinned, problemOf(64), { ...able, subgroupMinSize: 64 })).toMatch(
      /of 32 lanes/,
    );
  });

  test('by checkSupport, and by an error of the call', async () => {
    const { device } = await sharedContext();
    const ctx = await createContext({ device, tiles: () => ({ forward: { tx: 64, ty: 64, depth: 4 } }) });
    expect(checkSupport(ctx, problemOf(8)).reasons).toEqual([
      expect.stringContaining('tiles.forward must have'),
    ]);
    ctx.destroy();
  });
});

test('tiles of f16 are not taken for operands of f32, nor where dropout makes probabilities large', () => {
  const tile = matrixTile({ own: 'queries', subgroups: 2, matrix });
  const target = { capabilities: capable, tiles: () => ({ forward: tile }) };
  expect(forwardShape(problemOf(64), target).tile).toBe(tile);
  expect(forwardShape(problemOf(64, 0.5), target).tile).toBe(tile);
  expect(forwardShape(problemOf(64, 0.97), target).tile).toBe(defaultTile);
  const halved = workgroupTile({ ...defaultTile, pool: 'f16', arithmetic: 'f16' });
  expect(unsuitedReason(halved, problemOf(64, 0.5), [])).toBeNull();
  expect(unsuitedReason(halved, problemOf(64, 0.6), [])).toMatch(
    /dropout that multiplies what it keeps by at most 2/,
  );
  expect(forwardShape(problemOf(64, 0, 'f32'), target).tile).toBe(defaultTile);
});

test('tiles of any number of lanes give the same at any head size', async () => {
  const { device } = await sharedContext();
  const tile = { tx: 3, ty: 3, depth: 7 };
  const ctx = await createContext({
    device,
    tiles: () => ({ forward: { ...tile, ty: 5 }, dq: tile, dkdv: tile }),
  });
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 1, 37, 60], seed));
  const exact = exactResults({ q, k, v, dO });
  expectAgreement(await gpuResults(ctx, { q, k, v, dO }, exact), exact, { distance: 40 });
  ctx.destroy();
});
