import type { DType } from '@tilewise/core';
import { lanes, missingMatrices, needsPin } from '../../../../codegen/matrices/subgroup-lanes.ts';
import { adapterClass } from '../../../../device/capabilities/adapter-class.ts';
import type { SubgroupMatrixConfig } from '../../../../device/capabilities/subgroup-matrix-configs.ts';
import { enoughGroups, groupsOf, type MatMulTileSelector } from '../tile.ts';
import { matrixMatMulKind, workgroupBytes } from './matrix-kind.ts';
import type { MatrixMatMulShape } from './shape.ts';

/**
 * The parts of C that a subgroup has, the largest first. With 64 × 64, a kernel of the same form multiplies
 * two matrices of 4096 × 4096 with 220 TFLOP/s on an H200.
 */
const parts = [
  { rows: 64, columns: 64 },
  { rows: 32, columns: 64 },
  { rows: 32, columns: 32 },
] as const;

/**
 * The tile of subgroup matrices for a product: the largest whose sums stay in registers, and that gives each
 * core of a large GPU a tile; if C is too small, the smallest. Null if the device does not multiply the
 * operands as they are.
 */
export const matrixMatMulTile: MatMulTileSelector = (shape, operands, capabilities) => {
  const matrix = capabilities.subgroupMatrixConfigs.find(own =>
    operands.every(dtype => exactIn[own.component].includes(dtype)),
  );
  const pinned = needsPin(capabilities);
  if (!matrix || missingMatrices(matrix, pinned, capabilities)) return null;
  const { matrixSums } = adapterClass(capabilities);
  const fitting = parts
    .filter(({ rows, columns }) => (rows * columns) / lanes <= matrixSums)
    .map(
      (part): MatrixMatMulShape => ({
        ...{ kind: 'matrix', down: 2, across: 2, ...part, depth: 32, matrix, ...(pinned && { pinned }) },
      }),
    )
    .filter(own => workgroupBytes(own) <= capabilities.maxComputeWorkgroupStorageSize)
    .map(matrixMatMulKind.tile);
  return fitting.find(tile => groupsOf(shape, tile) >= enoughGroups) ?? fitting.at(-1) ?? null;
};

/** The dtypes whose values a matrix of a component type holds exactly. */
const exactIn: Readonly<Record<SubgroupMatrixConfig['component'], readonly DType[]>> = {
  f16: ['f16', 'f8e4m3', 'f8e5m2'],
  f32: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'],
};
