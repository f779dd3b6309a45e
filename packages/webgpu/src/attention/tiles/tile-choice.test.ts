import { InvalidArgumentError, normalise, Tensor, UnsupportedError } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import {
  type Capabilities,
  checkSupport,
  createContext,
  guaranteedCapabilities,
  type TileSelector,
} from '../../index.ts';
import { matrixTile } from '../../subpaths/matrix.ts';
import { subgroupTile, workgroupTile } from '../../subpaths/tiles.ts';
import { forwardShape } from '../kernels/forward/forward-shape.ts';
import { subgroupKind } from './subgroup/subgroup-kind.ts';
import type { Tile } from './tile.ts';
import { unsuitedReason } from './tile-choice.ts';
import { defaultSizes } from './tile-table.ts';

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

const sizes = defaultSizes;
const lanes = { stationary: 'queries', lanes: 8, group: 8 } as const;
const matrices = { stationary: 'queries', subgroups: 2, matrix } as const;

describe('a shape is refused with the rule that it breaks', () => {
  test.each<[what: string, make: () => Tile, rule: RegExp]>([
    ['half a lane', () => workgroupTile({ ...sizes, tx: 2.5 }), /whole numbers/],
    ['lanes with six rows', () => workgroupTile({ ...sizes, rows: 6 as never }), /4 or 8 rows/],
    [
      'products in f64',
      () => workgroupTile({ ...sizes, arithmetic: 'f64' as never }),
      /arithmetic f16 or f32/,
    ],
    ['no lanes', () => subgroupTile({ ...lanes, lanes: 0 }), /a multiple of 8 lanes/],
    [
      'a number of lanes that is not a multiple of the group',
      () => subgroupTile({ ...lanes, lanes: 6, group: 4 }),
      /a multiple of 4 lanes/,
    ],
    ['six rows of a lane', () => subgroupTile({ ...lanes, rows: 6 as never }), /4 rows, or of 8/],
    ['matrices of 7', () => matrixTile({ ...matrices, matrix: { ...matrix, K: 7 as never } }), /8 or 16/],
  ])('%s', (_, make, rule) => {
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(rule);
  });
});

describe('a tile is refused with a reason', () => {
  test.each<[what: string, tile: Tile, D: number, reason: RegExp]>([
    [
      'of more lanes than a workgroup has',
      workgroupTile({ tx: 32, ty: 16, headDimChunk: 4 }),
      64,
      /1 to 256 lanes/,
    ],
    [
      'with more of a result per lane than registers',
      workgroupTile({ tx: 1, ty: 8, headDimChunk: 64 }),
      256,
      /1024 accumulators per lane \(max 256\)/,
    ],
    [
      'that prefetches more than registers hold',
      workgroupTile({ tx: 4, ty: 4, headDimChunk: 16, prefetch: true }),
      256,
      /prefetches 160 numbers/,
    ],
    ['too flat for a row of a result', workgroupTile({ tx: 2, ty: 2, headDimChunk: 1 }), 256, /256 channels/],
    [
      'of too much memory',
      workgroupTile({ tx: 16, ty: 16, headDimChunk: 16 }),
      256,
      /bytes of workgroup memory/,
    ],
    ['that holds the other side', subgroupTile({ ...lanes, stationary: 'keys' }), 64, /stationary queries/],
    ['of f16 where shaders have none', workgroupTile({ ...sizes, stagingDType: 'f16' }), 64, /shader-f16/],
    [
      'that multiplies in f16 what it holds in f32',
      workgroupTile({ ...sizes, arithmetic: 'f16' }),
      64,
      /stagingDType f16/,
    ],
  ])('%s', (_, tile, D, reason) => {
    expect(
      tile.unsupported('forward', problemOf(D), { ...capable, maxComputeWorkgroupStorageSize: 16384 }),
    ).toMatch(reason);
  });

  test('for forward, if its memory cannot hold the row reductions, which gradients do not need', () => {
    const tile = workgroupTile({ tx: 16, ty: 16, headDimChunk: 4 });
    const room = { ...capable, maxComputeWorkgroupStorageSize: tile.workgroupMemory('dq', problemOf(64)) };
    expect(tile.unsupported('forward', problemOf(64), room)).toMatch(/bytes of workgroup memory/);
    expect(tile.unsupported('dq', problemOf(64), room)).toBeNull();
    expect(tile.unsupported('dkdv', problemOf(64), room)).toBeNull();
  });

  test('for dK/dV, unless it has as many queries as keys', () => {
    const reasonOf = (tile: Tile) => tile.unsupported('dkdv', problemOf(64), capable);
    expect(reasonOf(workgroupTile({ tx: 8, ty: 4, headDimChunk: 8 }))).toMatch(/as many queries/);
    expect(reasonOf(workgroupTile({ tx: 8, ty: 4, headDimChunk: 8, rows: 8 }))).toBeNull();
  });

  test('for f16 arithmetic, unless it is of forward and in sums that cannot overflow', () => {
    const tile = workgroupTile({ ...sizes, stagingDType: 'f16', arithmetic: 'f16' });
    const deep = workgroupTile({ ...sizes, headDimChunk: 9, stagingDType: 'f16', arithmetic: 'f16' });
    const half = { ...capable, features: ['shader-f16'] };
    expect(tile.unsupported('forward', problemOf(64), half)).toBeNull();
    expect(tile.unsupported('dq', problemOf(64), half)).toMatch(/in f32/);
    expect(deep.unsupported('forward', problemOf(64), half)).toMatch(/headDimChunk of at most 8/);
  });

  test('for rows reduced in subgroups, unless subgroups divide into whole rows and workgroups into whole subgroups', () => {
    const tile = (tx: number, ty: number) =>
      workgroupTile({ tx, ty, headDimChunk: 8, rowReduction: 'subgroup' });
    const able: Capabilities = { ...capable, features: ['subgroups'], subgroupMinSize: 8 };
    const reasonOf = (made: Tile, capabilities = able) =>
      made.unsupported('forward', problemOf(64), capabilities);
    expect(reasonOf(tile(8, 4))).toBeNull();
    expect(reasonOf(tile(8, 4), capable)).toMatch(/feature subgroups/);
    expect(reasonOf(tile(16, 8))).toMatch(/a power of two up to 8/);
    expect(reasonOf(tile(6, 16))).toMatch(/power of two/);
    expect(reasonOf(tile(8, 6))).toMatch(/a multiple of 32 lanes/);
    expect(tile(8, 4).unsupported('dq', problemOf(64), able)).toMatch(/gradient kernels do not reduce rows/);
  });

  test('for subgroups of a size, unless the device has them, and workgroups consist of whole ones', () => {
    const reasonOf = (subgroupSize: number, change: Partial<Capabilities> = {}) =>
      workgroupTile({ tx: 8, ty: 3, headDimChunk: 8, subgroupSize }).unsupported('dq', problemOf(64), {
        ...{ ...capable, features: ['subgroup-size-control'], subgroupMinSize: 8, subgroupMaxSize: 32 },
        ...change,
      });
    expect(reasonOf(8)).toBeNull();
    expect(reasonOf(8, { features: [] })).toMatch(/needs the feature subgroup-size-control/);
    expect(reasonOf(8, { subgroupMinSize: 16 })).toMatch(/subgroups of 8 lanes/);
    expect(reasonOf(64)).toMatch(/subgroups of 64 lanes/);
    expect(reasonOf(16)).toMatch(/a multiple of 16 lanes, its subgroupSize, got 24/);
  });

  test('with matrices or subgroups that the device does not have', () => {
    const tile = matrixTile({ stationary: 'queries', subgroups: 2, matrix });
    expect(tile.unsupported('forward', problemOf(64), capable)).toBeNull();
    expect(tile.unsupported('forward', problemOf(64), { ...capable, subgroupMatrixConfigs: [] })).toMatch(
      /subgroup matrices/,
    );
    const others = { ...capable, subgroupMinSize: 16, subgroupMaxSize: 64 };
    expect(tile.unsupported('forward', problemOf(64), others)).toMatch(/of 32 lanes/);
    const pinned = matrixTile({ stationary: 'queries', subgroups: 2, matrix, pinned: true });
    expect(pinned.unsupported('forward', problemOf(64), others)).toMatch(/feature subgroup-size-control/);
    const able = { ...others, features: [...capable.features, 'subgroup-size-control'] };
    expect(pinned.unsupported('forward', problemOf(64), able)).toBeNull();
    expect(pinned.unsupported('forward', problemOf(64), { ...able, subgroupMinSize: 64 })).toMatch(
      /of 32 lanes/,
    );
  });

  test('by checkSupport, and by an error of the call', async () => {
    const { device } = await sharedContext();
    const ctx = await createContext({
      device,
      tiles: () => ({ forward: workgroupTile({ tx: 64, ty: 64, headDimChunk: 4 }) }),
    });
    expect(checkSupport(ctx, problemOf(8)).reasons).toEqual([
      expect.stringContaining('tiles.forward must have'),
    ]);
    ctx.destroy();
  });
});

test('f16 tiles are not used for f32 operands, or if dropout makes probabilities large', () => {
  const tile = matrixTile({ stationary: 'queries', subgroups: 2, matrix });
  const target = { capabilities: capable, tiles: () => ({ forward: tile }) };
  expect(forwardShape(problemOf(64), target).tile).toBe(tile);
  expect(forwardShape(problemOf(64, 0.5), target).tile).toBe(tile);
  expect(forwardShape(problemOf(64, 0.97), target).tile.shape).toBe(defaultSizes);
  const halved = workgroupTile({ ...sizes, stagingDType: 'f16', arithmetic: 'f16' });
  expect(unsuitedReason(halved, problemOf(64, 0.5), [])).toBeNull();
  expect(unsuitedReason(halved, problemOf(64, 0.6), [])).toMatch(/dropout that scales by at most 2/);
  expect(forwardShape(problemOf(64, 0, 'f32'), target).tile.shape).toBe(defaultSizes);
});

test('tiles with any number of lanes give the same results at any head size', async () => {
  const { device } = await sharedContext();
  const square = { tx: 3, ty: 3, headDimChunk: 7 };
  const tile = workgroupTile(square);
  const ctx = await createContext({
    device,
    tiles: () => ({ forward: workgroupTile({ ...square, ty: 5 }), dq: tile, dkdv: tile }),
  });
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 1, 37, 60], seed));
  const exact = exactResults({ q, k, v, dO });
  expectAgreement(await gpuResults(ctx, { q, k, v, dO }, exact), exact, { distance: 40 });
  ctx.destroy();
});

test.each<[what: string, tiles: unknown, error: RegExp]>([
  ['a number', 5, /tiles must be a function, got/],
  ['a function of a number', () => 5, /tiles must return tiles by kernel or null, got/],
  [
    'a shape whose kind was not loaded',
    () => ({ forward: { kind: 'subgroup' } }),
    /tiles.forward must be made by/,
  ],
])('tiles that are %s are refused', async (_, tiles, error) => {
  const { device } = await sharedContext();
  const call = async (): Promise<unknown> =>
    checkSupport(await createContext({ device, tiles: tiles as TileSelector }), problemOf(8));
  await expect(call()).rejects.toThrow(InvalidArgumentError);
  await expect(call()).rejects.toThrow(error);
});

test('the table reports a tile kind that an adapter needs and that was not loaded', () => {
  const [q] = [Tensor.zeros([1, 1, 512, 64])];
  const { problem } = normalise({ q, k: q, v: q });
  const capabilities = { ...capable, adapter: 'mesa software' };
  expect(() => forwardShape(problem, { capabilities })).toThrow(UnsupportedError);
  expect(() => forwardShape(problem, { capabilities })).toThrow('tile kind subgroup');
  expect(forwardShape(problem, { capabilities, tileKinds: { subgroup: subgroupKind } }).tile.shape.kind).toBe(
    'subgroup',
  );
});
