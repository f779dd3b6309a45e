import type { DType } from '@tilewise/core';
import { lanes, missingMatrices, needsPin } from '../../../../codegen/matrices/subgroup-lanes.ts';
import { adapterClass } from '../../../../device/capabilities/adapter-class.ts';
import type { Capabilities } from '../../../../device/capabilities/capabilities.ts';
import type { SubgroupMatrixConfig } from '../../../../device/capabilities/subgroup-matrix-configs.ts';
import {
  enoughGroups,
  groupsOf,
  type MatMulSize,
  type MatMulTile,
  type MatMulTileSelector,
} from '../tile.ts';
import { matrixMatMulKind, workgroupBytes } from './matrix-kind.ts';
import type { MatrixMatMulShape } from './shape.ts';

/**
 * The elements of C that a subgroup computes, the largest tile first. With 64 × 64, a kernel of the same form
 * multiplies two matrices of 4096 × 4096 with 220 TFLOP/s on an H200.
 */
const subgroupTiles = [
  { rows: 64, columns: 64 },
  { rows: 32, columns: 64 },
  { rows: 64, columns: 32 },
  { rows: 32, columns: 32 },
  { rows: 16, columns: 16 },
] as const;

/** The steps of the sum that are staged at a time: fewer if workgroup memory is too small. */
const depths = [32, 16] as const;

/** The most that the tile may add to the padding of the tile with the least. */
const tolerablePadding = 1.25;

/**
 * The tile of subgroup matrices for a product: the largest whose sums stay in registers, that gives each core
 * of a large GPU a tile, and that does not consist of padding; if there is none, the smallest. Null if the
 * device does not multiply the operands as they are.
 */
export const matrixMatMulTile: MatMulTileSelector = (size, operands, capabilities) => {
  const exact = capabilities.subgroupMatrixConfigs.filter(({ component }) =>
    operands.every(dtype => exactIn[component].includes(dtype)),
  );
  // Matrices of f16 take half of the memory, and most GPUs multiply them at several times the speed.
  const preferred = [
    ...exact.filter(({ component }) => component === 'f16'),
    ...exact.filter(({ component }) => component === 'f32'),
  ];
  const fitting = preferred.map(matrix => tilesOf(matrix, capabilities)).find(tiles => tiles.length > 0);
  return fitting ? largestUseful(size, fitting) : null;
};

/** The tiles that the device can compute, the largest first. */
function tilesOf(matrix: SubgroupMatrixConfig, capabilities: Capabilities): readonly MatMulTile[] {
  const pinned = needsPin(capabilities);
  if (missingMatrices(matrix, pinned, capabilities)) return [];
  const { matrixSums } = adapterClass(capabilities);
  return subgroupTiles
    .filter(({ rows, columns }) => (rows * columns) / lanes <= matrixSums)
    .flatMap(own => {
      const shape = depths
        .map(
          (depth): MatrixMatMulShape => ({
            ...{ kind: 'matrix', down: 2, across: 2, ...own, depth, matrix, ...(pinned && { pinned }) },
          }),
        )
        .find(one => workgroupBytes(one) <= capabilities.maxComputeWorkgroupStorageSize);
      return shape ? [matrixMatMulKind.tile(shape)] : [];
    });
}

function largestUseful(size: MatMulSize, tiles: readonly MatMulTile[]): MatMulTile | null {
  const elements = (tile: MatMulTile): number => groupsOf(size, tile) * tile.M * tile.N;
  const least = Math.min(...tiles.map(elements));
  return (
    tiles.find(tile => groupsOf(size, tile) >= enoughGroups && elements(tile) <= tolerablePadding * least) ??
    tiles.at(-1) ??
    null
  );
}

/** The dtypes whose values a matrix of a component type holds exactly. */
const exactIn: Readonly<Record<SubgroupMatrixConfig['component'], readonly DType[]>> = {
  f16: ['f16', 'f8e4m3', 'f8e5m2'],
  f32: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'],
};
