import { normalise, Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { adapterClass, adapterClassNames } from '../../../device/capabilities/adapter-class.ts';
import {
  type Capabilities,
  createContext,
  guaranteedCapabilities,
  type TileSelector,
} from '../../../index.ts';
import { matrixTiles } from '../../../subpaths/matrix.ts';
import { type Tile, tileSize } from '../tile.ts';
import type { WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';
import { fastestTile } from './default-tiles.ts';
import { hardwareDecodeTile, hardwareTiles } from './hardware-tiles.ts';
import { nvidiaTiles } from './nvidia-tiles.ts';

const roles = ['forward', 'dq', 'dkdv'] as const;

/** A device of each class, with the adapter's name as browsers report it. */
const device = (adapter: string, change: Partial<Capabilities> = {}): Capabilities => ({
  ...guaranteedCapabilities,
  ...{ adapter, features: ['shader-f16', 'subgroups'], maxComputeWorkgroupStorageSize: 32768 },
  ...{ subgroupMinSize: 32, subgroupMaxSize: 32, ...change },
});

const problemOf = (D: number, dtype: 'f32' | 'f16' = 'f32', S = 1024) => {
  const x = Tensor.zeros([1, 16, S, D], { dtype });
  return normalise({ q: x, k: x, v: x }).problem;
};

test.each([...adapterClassNames, 'unknown'])(
  '%s has tiles that its devices compute, at every head size',
  name => {
    const capabilities = device(`${name} some-architecture`);
    expect(adapterClass(capabilities).name).toBe(name);
    for (const D of [16, 64, 80, 128, 256])
      for (const dtype of ['f32', 'f16'] as const)
        for (const role of roles) {
          const problem = problemOf(D, dtype);
          const tile = hardwareTiles(null)(role, problem, [problem.q, problem.k, problem.v], capabilities);
          expect(tile?.unsupported(role, problem, capabilities), `${role} of ${D}`).toBeNull();
          expect(tile && tileSize(tile.grid).lanes).toBeLessThanOrEqual(256);
        }
  },
);

test('on a device with the guaranteed workgroup memory, tiles fit into it', () => {
  const capabilities = device('amd rdna-3', {
    maxComputeWorkgroupStorageSize: 16384,
    features: [],
    subgroupMinSize: 0,
  });
  for (const role of roles) {
    const problem = problemOf(128);
    const modelled = fastestTile(role, problem, [problem.q, problem.k, problem.v], capabilities);
    expect(modelled?.cost.occupiedBytes).toBeLessThanOrEqual(16384);
    expect(modelled?.shape.rowReduction).toBe('workgroup');
  }
});

test("a tile's registers suffice if any tile's do", () => {
  for (const name of ['nvidia', 'amd'])
    for (const D of [64, 128])
      for (const role of roles) {
        const problem = problemOf(D);
        const modelled = fastestTile(role, problem, [problem.q, problem.k, problem.v], device(name));
        expect(modelled?.cost.spills, `${name} ${role} ${D}`).toBe(false);
      }
});

test('dK and dV of large heads have a kernel each where one kernel would need more registers than a lane has', () => {
  const names = ['amd', 'nvidia', 'intel', 'apple'];
  const fused = (D: number): boolean[] =>
    names.map(name => {
      const problem = problemOf(D);
      const tile = hardwareTiles(null)('dkdv', problem, [problem.q, problem.k, problem.v], device(name));
      return 2 * D <= (tile?.maxFusedChannels ?? 0);
    });
  expect(fused(64)).toEqual([true, true, true, true]);
  expect(fused(128)).toEqual([true, true, false, false]);
});

test('problems with few workgroups get smaller tiles', () => {
  const amd = device('amd', { maxComputeWorkgroupStorageSize: 65536 });
  const rowsOf = (S: number): number => {
    const problem = normalise(
      Object.fromEntries(['q', 'k', 'v'].map(name => [name, Tensor.zeros([1, 1, S, 64])])) as never,
    ).problem;
    const tile = hardwareTiles(null)('forward', problem, [problem.q, problem.k, problem.v], amd);
    return tile ? tile.grid.ty * tile.grid.rows : 0;
  };
  expect(rowsOf(64)).toBeLessThan(rowsOf(16384));
});

describe('on Intel, kernels ask for the smallest subgroups, whose lanes have the most registers', () => {
  const sizes = { subgroupMinSize: 8, subgroupMaxSize: 32 };
  const features = ['subgroups', 'subgroup-size-control'];
  const sizeOf = (tile: Tile | null): unknown => tile && (tile.shape as WorkgroupTileShape).subgroupSize;
  const asked = (name: string, change: Partial<Capabilities>): unknown[] => {
    const problem = problemOf(64);
    const capabilities = device(name, change);
    const tiles = roles.map(role =>
      hardwareTiles(null)(role, problem, [problem.q, problem.k, problem.v], capabilities),
    );
    const few = hardwareDecodeTile({ tx: 32, ty: 1, headDimChunk: 3 }, problem, capabilities);
    return [...new Set([...tiles, few].map(sizeOf))];
  };

  test('if the device has several sizes, and lets kernels choose', () => {
    expect(asked('intel gen-12lp', { ...sizes, features })).toEqual([8]);
    expect(asked('intel xe-2lpg', { ...sizes, subgroupMinSize: 16, features })).toEqual([16]);
    expect(asked('intel gen-12lp', { ...sizes, features: ['subgroups'] })).toEqual([undefined]);
    expect(asked('intel gen-12lp', { features })).toEqual([undefined]);
  });

  test('but not on adapters of other vendors', () => {
    for (const name of ['nvidia', 'amd', 'apple', 'qualcomm', 'arm', 'unknown'])
      expect(asked(name, { ...sizes, features }), name).toEqual([undefined]);
  });
});

test('operands are staged in f16 only if all are f16', () => {
  const problem = problemOf(64, 'f16');
  const { q, k, v } = problem;
  const capabilities = device('qualcomm');
  const held = (operands: readonly (typeof q)[]) =>
    fastestTile('dq', problem, operands, capabilities)?.shape.stagingDType ?? 'f32';
  expect(held([q, k, v, q])).toBe('f16');
  expect(held([q, k, v, problemOf(64).q])).toBe('f32');
});

describe('NVIDIA', () => {
  const nvidia = device('nvidia hopper', { maxComputeWorkgroupStorageSize: 49152 });
  const shapeOf = (S: number, change: Partial<Capabilities> = {}): object | undefined => {
    const problem = problemOf(128, 'f32', S);
    const capabilities = { ...nvidia, ...change };
    return hardwareTiles(null, nvidiaTiles)(
      'forward',
      problem,
      [problem.q, problem.k, problem.v],
      capabilities,
    )?.shape;
  };
  const measured = { tx: 16, ty: 16, headDimChunk: 8, prefetch: true };

  test('has the measured tile if a problem fills the device', () => {
    expect(shapeOf(4096)).toEqual(measured);
    expect(shapeOf(64)).not.toEqual(measured);
  });

  test('multiplies f16 that is staged in f16, if the device has f16 and subgroups', () => {
    const problem = problemOf(128, 'f16', 4096);
    const shape = (features: readonly string[]): object | undefined =>
      hardwareTiles(null, nvidiaTiles)('forward', problem, [problem.q, problem.k, problem.v], {
        ...nvidia,
        features,
      })?.shape;
    expect(shape(['shader-f16', 'subgroups'])).toMatchObject({ stagingDType: 'f16', rows: 8 });
    expect(shape([])).toEqual({ ...measured, unrolled: true });
  });

  test('has a modelled tile if there is not enough workgroup memory for the measured one', () => {
    expect(shapeOf(4096, { maxComputeWorkgroupStorageSize: 16384 })).toMatchObject({ unrolled: true });
  });
});

test('few queries have many reads in flight, and chunks that leave memory for other workgroups', () => {
  const decodeShape = (dtype: 'f32' | 'f16', features: readonly string[]): object | undefined => {
    const [q, k] = [Tensor.zeros([1, 32, 1, 128], { dtype }), Tensor.zeros([1, 8, 4096, 128], { dtype })];
    const { problem } = normalise({ q, k, v: k });
    return hardwareDecodeTile({ tx: 32, ty: 1, headDimChunk: 3 }, problem, device('nvidia', { features }))
      .shape;
  };
  const shape = { tx: 32, ty: 1, headDimChunk: 2, unrolled: true };
  expect(decodeShape('f32', [])).toEqual(shape);
  expect(decodeShape('f16', [])).toEqual(shape);
  expect(decodeShape('f16', ['shader-f16'])).toEqual({ ...shape, headDimChunk: 4, stagingDType: 'f16' });
});

test('forward uses subgroup matrices by default, and backward only on request', () => {
  const matrix = { M: 16, N: 16, K: 16, component: 'f16' } as const;
  const capabilities = device('nvidia ampere', { subgroupMatrixConfigs: [matrix] });
  const kindOf = (role: (typeof roles)[number], dtype: 'f32' | 'f16') => {
    const problem = problemOf(64, dtype);
    const { q, k, v } = problem;
    return hardwareTiles(matrixTiles)(role, problem, [q, k, v], capabilities)?.shape.kind ?? 'workgroup';
  };
  expect(kindOf('forward', 'f16')).toBe('matrix');
  expect(kindOf('forward', 'f32')).toBe('workgroup');
  expect(kindOf('dq', 'f16')).toBe('workgroup');
  expect(kindOf('dkdv', 'f16')).toBe('workgroup');
});

/** The tiles that a class uses on its own devices, tried on a device that can compute them. */
const tilesOf =
  (name: string): TileSelector =>
  (problem, { features, subgroupMinSize, subgroupMaxSize, maxComputeWorkgroupStorageSize }) => {
    const capabilities = device(name, {
      ...{ features, subgroupMinSize, subgroupMaxSize, maxComputeWorkgroupStorageSize },
    });
    // As many workgroups as problems with long sequences have.
    const large = { ...problem, B: 64 };
    const operands = [problem.q, problem.k, problem.v];
    const tile = (role: (typeof roles)[number]) =>
      hardwareTiles(null)(role, large, operands, capabilities) ?? undefined;
    return { forward: tile('forward'), dq: tile('dq'), dkdv: tile('dkdv') };
  };

// Software adapters compile such kernels for minutes: f32 on SwiftShader, and f16, which SwiftShader lacks,
// elsewhere. With TILEWISE_TILES=all, the tiles of every class run at the head sizes of common models.
const onSwiftShader = (process.env.TILEWISE_ADAPTER ?? 'swiftshader') === 'swiftshader';
const dtypeHere = onSwiftShader ? 'f32' : 'f16';
const cases: readonly (readonly [name: string, D: number, dtype: 'f32' | 'f16'])[] =
  process.env.TILEWISE_TILES === 'all'
    ? adapterClassNames.flatMap(name => [64, 128].map(D => [name, D, dtypeHere] as const))
    : [[onSwiftShader ? 'amd' : 'qualcomm', 36, dtypeHere]];

test.each(cases)(
  'the tiles of %s give right results, D = %i, %s',
  { timeout: 600_000 },
  async (name, D, dtype) => {
    const { device: gpu } = await sharedContext();
    const ctx = await createContext({ device: gpu, tiles: tilesOf(name) });
    const [q, k, v, dO] = [1, 2, 3, 4].map(seed =>
      Tensor.from(normal([1, 2, 71, D], seed).toFloat32(), [1, 2, 71, D], { dtype }),
    );
    const call = { q, k, v, dO, options: { causal: true } };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
    ctx.destroy();
  },
);
