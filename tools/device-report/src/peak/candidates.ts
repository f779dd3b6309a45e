import type { GpuContext } from '@tilewise/webgpu';
import type { MatmulCandidate } from './candidate.ts';
import { subgroupMatmul } from './subgroup-matmul.ts';
import { type MatrixTile, type SubgroupMatrix, subgroupMatrixMatmul } from './subgroup-matrix-matmul.ts';
import { type FixedTile, tiledMatmul } from './tiled-matmul.ts';

/** The properties of a device that the candidates depend on. */
export interface MatmulDevice {
  readonly device: Pick<GPUDevice, 'features'>;
  /** Products of f16 with f32 sums that a subgroup computes at once. */
  readonly matrices: readonly SubgroupMatrix[];
  /** The number of lanes of the largest subgroup. */
  readonly maxSubgroupSize: number;
}

/** The properties of a context's device that the candidates depend on. */
export function matmulDevice({ device, capabilities }: GpuContext): MatmulDevice {
  const { subgroupMatrixConfigs, subgroupMaxSize } = capabilities;
  const matrices = subgroupMatrixConfigs.filter(({ component }) => component === 'f16');
  return { device, matrices, maxSubgroupSize: subgroupMaxSize };
}

const stagedTiles: readonly FixedTile[] = [
  { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 },
  { tx: 16, ty: 16, rows: 2, columns: 1, depth: 16 },
  { tx: 16, ty: 16, rows: 2, columns: 2, depth: 8 },
];
const directTile: FixedTile = { tx: 8, ty: 8, rows: 1, columns: 1, depth: 16 };

const matrixTiles: readonly MatrixTile[] = [
  { across: 2, depth: 16, staged: true },
  { across: 2, depth: 32, staged: true },
  { across: 4, depth: 32, staged: true },
  { across: 2, depth: 32, staged: false },
];

/** The ways to compute a product that are worth trying on an adapter. */
export function candidatesFor(
  { device, matrices, maxSubgroupSize }: MatmulDevice,
  size: number,
): MatmulCandidate[] {
  const precisions = device.features.has('shader-f16') ? (['f32', 'f16'] as const) : (['f32'] as const);
  const matrix = matrices.find(({ M, N, K }) => 64 % M === 0 && 64 % N === 0 && 16 % K === 0);
  const withMatrices = (one: SubgroupMatrix): MatmulCandidate[] =>
    matrixTiles.map(tile => subgroupMatrixMatmul(size, one, maxSubgroupSize, tile));
  return [
    ...precisions.flatMap(precision => stagedTiles.map(tile => tiledMatmul(size, precision, tile, true))),
    tiledMatmul(size, 'f32', directTile, false),
    ...(device.features.has('subgroups') ? [subgroupMatmul(size)] : []),
    ...(matrix ? withMatrices(matrix) : []),
  ];
}
