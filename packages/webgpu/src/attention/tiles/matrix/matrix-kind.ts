import { hasNonFinite, markNonFinite } from '../../../codegen/formats/float-bits.ts';
import { lanes, missingMatrices } from '../../../codegen/matrices/subgroup-lanes.ts';
import { checkedTile, isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import { type TileBackend, weightedPart } from '../interface/tile-backend.ts';
import { deferredRescaling } from '../scores/deferred-rescaling.ts';
import { type LaneGrid, unrolledVectors } from '../scores/score-vectors.ts';
import { brokenGridRule, memoryReason, stationaryReason, type Tile } from '../tile.ts';
import { accumulate, results } from './accumulate-gemm.ts';
import { deviceInstructions } from './device-instructions.ts';
import {
  declarations,
  heldRows,
  lanesOfRow,
  matrixArrays,
  memoryOf,
  streamedRows,
  weightsSize,
} from './memory.ts';
import { loadHeld, scores } from './score-gemm.ts';
import type { AttentionMatrixInstructions, MatrixTile, MatrixTileShape } from './shape.ts';
import { loopOverTiles } from './tile-loop.ts';

const sides: readonly unknown[] = [8, 16];

/**
 * See `Tile.maxFusedChannels`. At D = 128 on an H200, one kernel for dK and dV takes 3.6 times as long as
 * two.
 */
const maxFusedChannels = 128;

/**
 * Tiles of subgroup matrices: each subgroup of 32 lanes holds 16 rows, and streams 32 rows of the other side
 * at a time; or holds 32 queries, and streams 16 keys.
 */
export const matrixKind: TileKind<MatrixTileShape, Tile> = {
  name: 'matrix',
  fields: ['kind', 'stationary', 'heldRows', 'subgroups', 'matrix', 'pinned'],
  brokenRule({ stationary, heldRows: rows = 16, subgroups, matrix, pinned = false }) {
    if (stationary !== 'queries' && stationary !== 'keys')
      return `must have stationary queries or keys, got ${stationary}`;
    if (rows !== 16 && (rows !== 32 || stationary !== 'queries'))
      return `must have heldRows 16, or 32 with stationary queries, got ${rows}`;
    const { M, N, K, component } = matrix ?? {};
    const isMatrix =
      Object.keys(matrix ?? {}).every(name => ['M', 'N', 'K', 'component'].includes(name)) &&
      [M, N, K].every(n => sides.includes(n)) &&
      ['f16', 'f32'].includes(component);
    return isCount(subgroups) && isMatrix && typeof pinned === 'boolean'
      ? null
      : 'must have subgroups, pinned or not, and a matrix of M, N and K of 8 or 16 in f16 or f32';
  },
  describe: ({ matrix: { M, N, K, component }, subgroups, heldRows: rows = 16 }) =>
    `matrices ${M}×${N}×${K} ${component}, ${subgroups} subgroups of ${rows} rows`,
  tile: shape => matrixTileWith(shape, deviceInstructions(shape), true),
};

/**
 * Makes a tile of subgroup matrices, for the option `tiles` of `createContext`.
 * @throws InvalidArgumentError if `shape` does not describe such a tile.
 */
export const matrixTile = (shape: Omit<MatrixTileShape, 'kind'>): Tile =>
  checkedTile(matrixKind, { kind: 'matrix', ...shape });

/**
 * Makes a tile whose matrix operations are written with given instructions. `needsMatrices`: whether the
 * device must support the matrices.
 */
export function matrixTileWith(
  shape: MatrixTileShape,
  instructions: AttentionMatrixInstructions,
  needsMatrices: boolean,
): Tile {
  const { stationary, subgroups, matrix, pinned = false } = shape;
  const grid: LaneGrid = {
    ...(stationary === 'queries'
      ? { tx: lanesOfRow(shape), ty: heldRows(shape) * subgroups }
      : { tx: subgroups, ty: streamedRows(shape) }),
    ...{ rows: 1, cols: 4 },
  };
  const workgroupMemory: Tile['workgroupMemory'] = (role, { Dqk, Dv }) =>
    memoryOf(shape, {
      streamed: [Dqk, Dv],
      sums: role === 'dkdv' && Dqk + Dv <= maxFusedChannels ? 2 : 1,
    });
  return {
    ...{ shape, grid, backend: matrixBackend({ ...shape, instructions }, grid) },
    ...{ operandType: matrix.component, operandDType: matrix.component, maxFusedChannels },
    // Probabilities can be up to e⁸, because rescaling may lag behind the maxima.
    maxDropoutScale: matrix.component === 'f16' ? 16 : Infinity,
    unsupported(role, problem, capabilities) {
      return (
        brokenGridRule(grid) ??
        stationaryReason(stationary, role, problem) ??
        memoryReason(workgroupMemory(role, problem), capabilities, 'use fewer subgroups') ??
        (needsMatrices ? missingMatrices(matrix, pinned, capabilities) : null)
      );
    },
    workgroupMemory,
  };
}

/**
 * Scores and results are computed as subgroup matrices. The elements of matrices cannot be accessed
 * individually: scores go through `scratch` to the lanes that process them, and the weights that lanes
 * compute from the scores go through `weights` back into matrices.
 */
function matrixBackend(tile: MatrixTile, grid: LaneGrid): TileBackend {
  const { instructions } = tile;
  const [tx, ty] =
    tile.stationary === 'keys'
      ? ['subgroup', 'subgroup_lane']
      : lanesOfRow(tile) === 1
        ? ['0u', `subgroup * ${lanes}u + subgroup_lane`]
        : ['subgroup_lane % 2u', `subgroup * ${heldRows(tile)}u + subgroup_lane / 2u`];
  return {
    parts: (gemms, summed) => [
      declarations(tile, gemms, summed),
      instructions.part(matrixArrays(tile, gemms, summed)),
      { ...weightedPart, requires: [hasNonFinite, markNonFinite] },
    ],
    lane: `${instructions.declareSubgroup}
  let own_weights = subgroup * ${weightsSize(tile)}u;
  let tx = ${tx};
  let ty = ${ty};`,
    scoreVectors: unrolledVectors(grid),
    loadStationary: gemms => gemms.map(gemm => loadHeld(tile, gemm)).join('\n'),
    scores: (gemms, sums, visible) => scores(tile, gemms, sums, visible !== ''),
    markRows,
    reduceRows: reduction => instructions.reduceRows(grid, reduction),
    accumulate: (gemms, sums) => accumulate(tile, gemms, sums),
    ...results(tile),
    lazyRescaling: deferredRescaling(
      instructions.reduceRows(grid, {
        ...{ name: 'l_seen', own: () => 'l0', join: (a, b) => `${a} + ${b}` },
        ...{ identity: '0.0', afterBarrier: true },
      }),
    ),
    loop: (...loop) => loopOverTiles(tile, ...loop),
    // On an H200, masks added 0.5 ms to the 1.6 of a stand-alone forward kernel whose tiles were all full.
    specialised: text => `if (full_tile) {
    ${text('true')}
    } else {
    ${text('false')}
    }`,
  };
}

/**
 * The sum of a row is NaN if one of its scores is: e^NaN and e^(∞ − ∞) are. So scores need no tests, with
 * which forward took 5 to 17 % longer on an H200.
 */
const markRows = `
  if (has_non_finite(vec4f(sum0))) {
    m0 = mark_non_finite(vec4f(sum0)).x;
  }`;
