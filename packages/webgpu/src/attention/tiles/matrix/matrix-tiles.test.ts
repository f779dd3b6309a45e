import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { type Capabilities, guaranteedCapabilities } from '../../../index.ts';
import { tileSize } from '../tile.ts';
import { matrixTiles } from './matrix-tiles.ts';

const able = (maxComputeWorkgroupStorageSize: number): Capabilities => ({
  ...guaranteedCapabilities,
  ...{ subgroupMinSize: 32, subgroupMaxSize: 32, maxComputeWorkgroupStorageSize },
  subgroupMatrixConfigs: [{ M: 16, N: 16, K: 16, component: 'f16' }],
});

const problemOf = (D: number, options?: SdpaOptions<Tensor>) => {
  const x = Tensor.zeros([1, 2, 512, D], { dtype: 'f16' });
  return normalise({ q: x, k: x, v: x }, options).problem;
};

test.each<[D: number, bytes: number, subgroups: Record<string, number>]>([
  [128, 49152, { forward: 8, dq: 8, dkdv: 7 }],
  [128, 32768, { forward: 4, dq: 4, dkdv: 2 }],
  [64, 49152, { forward: 4, dq: 4, dkdv: 6 }],
  [64, 32768, { forward: 4, dq: 4, dkdv: 4 }],
])('workgroups have as many subgroups as are fast and fit: D = %i, %i bytes', (D, bytes, subgroups) => {
  const tiles = Object.entries(matrixTiles(problemOf(D), able(bytes)) ?? {});
  expect(Object.fromEntries(tiles.map(([role, { shape }]) => [role, shape]))).toMatchObject(
    Object.fromEntries(Object.entries(subgroups).map(([role, count]) => [role, { subgroups: count }])),
  );
});

test('a block of a block mask is a whole number of tiles', () => {
  const blockMask = Tensor.from([1, 3, 7, 15], [1, 1, 4, 1], { dtype: 'u8' });
  const tiles = matrixTiles(problemOf(64, { blockMask }), able(49152)) ?? {};
  for (const tile of Object.values(tiles)) {
    const { rows, cols } = tileSize(tile.grid);
    expect([128 % rows, 128 % cols]).toEqual([0, 0]);
  }
});

test('forward with ALiBi keeps probabilities in f32, because the gradient of slopes needs an exact o', () => {
  expect(Object.keys(matrixTiles(problemOf(64, { alibi: true }), able(49152)) ?? {})).toEqual(['dq', 'dkdv']);
});
