import { checkedTile, isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { type LaneGrid, unrolledVectors } from '../scores/score-vectors.ts';
import { brokenGridRule, memoryReason, stationaryReason, type Tile } from '../tile.ts';
import { type TileBackend, weightedPart } from '../tile-backend.ts';
import { streamedOperands } from '../tile-operands.ts';
import { accumulate, results } from './accumulate-gemm.ts';
import {
  declarations,
  heldRows,
  memoryOf,
  poolOf,
  scratchSize,
  streamedRows,
  weightsSize,
} from './memory.ts';
import { loadHeld, scores } from './score-gemm.ts';
import { lanes, type MatrixSpelling, type MatrixTile, type MatrixTileShape } from './shape.ts';
import { subgroupMatrices } from './spelling.ts';

const sides: readonly unknown[] = [8, 16];

/**
 * See `Tile.maxFusedChannels`. At D = 128 on an H100, one kernel for dK and dV takes as long as two, whose
 * workgroups have more subgroups.
 */
const maxFusedChannels = 128;

/**
 * Tiles of subgroup matrices: each subgroup of 32 lanes holds 16 rows, and streams 32 rows of the other side
 * at a time.
 */
export const matrixKind: TileKind<MatrixTileShape, Tile> = {
  name: 'matrix',
  fields: ['kind', 'stationary', 'subgroups', 'matrix', 'pinned'],
  brokenRule({ stationary, subgroups, matrix, pinned = false }) {
    if (stationary !== 'queries' && stationary !== 'keys')
      return `must have stationary queries or keys, got ${stationary}`;
    const { M, N, K, component } = matrix ?? {};
    const isMatrix =
      Object.keys(matrix ?? {}).every(name => ['M', 'N', 'K', 'component'].includes(name)) &&
      [M, N, K].every(n => sides.includes(n)) &&
      ['f16', 'f32'].includes(component);
    return isCount(subgroups) && isMatrix && typeof pinned === 'boolean'
      ? null
      : 'must have subgroups, pinned or not, and a matrix of M, N and K of 8 or 16 in f16 or f32';
  },
  describe: ({ matrix: { M, N, K, component }, subgroups }) =>
    `matrices ${M}×${N}×${K} ${component}, ${subgroups} subgroups`,
  tile: shape => spelledMatrixTile(shape, subgroupMatrices(shape.matrix, shape.pinned), true),
};

/**
 * Makes a tile of subgroup matrices, for the option `tiles` of `createContext`.
 * @throws InvalidArgumentError if `shape` does not describe such a tile.
 */
export const matrixTile = (shape: Omit<MatrixTileShape, 'kind'>): Tile =>
  checkedTile(matrixKind, { kind: 'matrix', ...shape });

/**
 * Makes a tile whose matrix operations are written by a given spelling. `needsMatrices`: whether the device
 * must support the matrices.
 */
export function spelledMatrixTile(
  shape: MatrixTileShape,
  spelling: MatrixSpelling,
  needsMatrices: boolean,
): Tile {
  const { stationary, subgroups, matrix } = shape;
  const grid: LaneGrid = {
    ...(stationary === 'queries' ? { tx: 2, ty: heldRows * subgroups } : { tx: subgroups, ty: streamedRows }),
    ...{ rows: 1, cols: 4 },
  };
  const workgroupMemory: Tile['workgroupMemory'] = (role, { Dqk, Dv }) =>
    memoryOf(shape, {
      streamed: [Dqk, Dv],
      sums: role === 'dkdv' && Dqk + Dv <= maxFusedChannels ? 2 : 1,
    });
  return {
    ...{ shape, grid, backend: matrixBackend({ ...shape, spelling }, grid) },
    ...{ operandType: matrix.component, operandDType: matrix.component, maxFusedChannels },
    // Probabilities can be up to e⁸, because rescaling may lag behind the maxima.
    maxDropoutScale: matrix.component === 'f16' ? 16 : Infinity,
    unsupported(role, problem, capabilities) {
      return (
        brokenGridRule(grid) ??
        stationaryReason(stationary, role, problem) ??
        memoryReason(workgroupMemory(role, problem), capabilities, 'use fewer subgroups') ??
        (needsMatrices ? missingMatrices(shape, capabilities) : null)
      );
    },
    workgroupMemory,
  };
}

const pinFeature = 'subgroup-size-control';

/** The features that a device lacks for a tile, or null. */
function missingMatrices(
  { matrix, pinned = false }: MatrixTileShape,
  capabilities: Capabilities,
): string | null {
  const { subgroupMinSize: min, subgroupMaxSize: max, subgroupMatrixConfigs, features } = capabilities;
  if (min > lanes || max < lanes || (!pinned && needsPin(capabilities)))
    return `needs subgroups of ${lanes} lanes, but the device's have ${min} to ${max}`;
  if (pinned && !features.includes(pinFeature)) return `needs the feature ${pinFeature}`;
  const text = JSON.stringify(matrix);
  return subgroupMatrixConfigs.some(other => JSON.stringify(other) === text)
    ? null
    : `needs subgroup matrices ${text}, which the device does not have`;
}

/** Whether kernels on a device must ask for subgroups of 32 lanes. */
export const needsPin = ({ subgroupMinSize, subgroupMaxSize }: Capabilities): boolean =>
  subgroupMinSize !== lanes || subgroupMaxSize !== lanes;

/**
 * Scores and results are computed as subgroup matrices. The elements of matrices cannot be accessed
 * individually: scores go through `scratch` to the lanes that process them, and the weights that lanes
 * compute from the scores go through `weights` back into matrices.
 */
function matrixBackend(tile: MatrixTile, grid: LaneGrid): TileBackend {
  const { spelling } = tile;
  const own =
    tile.stationary === 'queries'
      ? `let tx = subgroup_lane % 2u;\n  let ty = subgroup * ${heldRows}u + subgroup_lane / 2u;`
      : 'let tx = subgroup;\n  let ty = subgroup_lane;';
  return {
    parts: (gemms, summed) => [
      declarations(tile, gemms, summed),
      spelling.part(streamedOperands(tile, gemms, summed).map(poolOf)),
      weightedPart,
    ],
    place: `${spelling.place}
  let own_scratch = subgroup * ${scratchSize(tile)}u;
  let own_weights = subgroup * ${weightsSize(tile)}u;
  ${own}`,
    scoreVectors: unrolledVectors(grid),
    loadStationary: gemms => gemms.map(gemm => loadHeld(tile, gemm)).join('\n'),
    scores: (gemms, sums) => scores(tile, gemms, sums),
    reduceRows: reduction => spelling.reduceRows(grid, reduction),
    accumulate: (_, ...sums) => accumulate(tile, sums),
    ...results(tile),
  };
}
