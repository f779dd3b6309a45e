import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { type Capabilities, guaranteedCapabilities } from '../../../index.ts';
import { tileSize } from '../tile.ts';
import { matrixTiles } from './matrix-tiles.ts';
import type { MatrixTileShape } from './shape.ts';

const able = (maxComputeWorkgroupStorageSize: number): Capabilities => ({
  ...guaranteedCapabilities,
  ...{ subgroupMinSize: 32, subgroupMaxSize: 32, maxComputeWorkgroupStorageSize },
  subgroupMatrixConfigs: [{ M: 16, N: 16, K: 16, component: 'f16' }],
});

const problemOf = (D: number, options?: SdpaOptions<Tensor>) => {
  const x = Tensor.zeros([1, 2, 512, D], { dtype: 'f16' });
  return normalise({ q: x, k: x, v: x }, options).problem;
};

test.each<[D: number, bytes: number, sizes: Record<string, { subgroups: number; heldRows?: 32 }>]>([
  [128, 49152, { forward: { subgroups: 8 }, dq: { subgroups: 8 }, dkdv: { subgroups: 7 } }],
  [128, 32768, { forward: { subgroups: 4 }, dq: { subgroups: 4 }, dkdv: { subgroups: 2 } }],
  [
    64,
    49152,
    { forward: { subgroups: 4, heldRows: 32 }, dq: { subgroups: 4, heldRows: 32 }, dkdv: { subgroups: 7 } },
  ],
  [
    64,
    32768,
    { forward: { subgroups: 4, heldRows: 32 }, dq: { subgroups: 4, heldRows: 32 }, dkdv: { subgroups: 4 } },
  ],
])('workgroups have the fastest sizes that fit: D = %i, %i bytes', (D, bytes, sizes) => {
  const tiles = Object.entries(matrixTiles(problemOf(D), able(bytes)) ?? {});
  expect(
    Object.fromEntries(
      tiles.map(([role, { shape }]) => {
        const { subgroups, heldRows } = shape as MatrixTileShape;
        return [role, { subgroups, ...(heldRows && { heldRows }) }];
      }),
    ),
  ).toEqual(sizes);
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
