import type { Capabilities } from '../../../device/capabilities.ts';
import type { LaneGrid, MatrixTile } from '../tile.ts';
import { type TileWork, weightedPart } from '../tile-backend.ts';
import { accumulate, results } from './accumulate-gemm.ts';
import {
  declarations,
  kept,
  lanes,
  type MatrixTileShape,
  memoryOf,
  met,
  operandsMet,
  poolOf,
  scratchSize,
  weightsSize,
} from './memory.ts';
import { keep, products } from './score-gemm.ts';
import { subgroupMatrices } from './spelling.ts';

/**
 * A tile of which each subgroup, of 32 lanes, keeps 16 rows and their results as subgroup matrices, and meets 32 rows of the other side at
 * a time, which all subgroups read into workgroup memory together.
 */
export function matrixTile(shape: MatrixTileShape): MatrixTile {
  const { own, pinned = false } = shape;
  const text = JSON.stringify(shape.matrix);
  return {
    ...{ through: 'matrix', own, component: shape.matrix.component, work: matrixWork(shape) },
    grid: gridOf(shape),
    reason(role, { Dqk, Dv }, capabilities) {
      const { subgroupMinSize: min, subgroupMaxSize: max, subgroupMatrixConfigs: matrices } = capabilities;
      const room = capabilities.maxComputeWorkgroupStorageSize;
      const bytes = memoryOf(shape, {
        met: [Dqk, Dv],
        products: role === 'forward' ? 1 : 2,
        sums: role === 'dkdv' ? 2 : 1,
      });
      if (bytes > room) return `takes ${bytes} bytes of workgroup memory, the device has ${room}`;
      if (shape.spelling) return null;
      if (min > lanes || max < lanes || (!pinned && needsPin(capabilities)))
        return `needs subgroups of ${lanes} lanes, the device's have ${min} to ${max}`;
      if (pinned && !capabilities.features.includes(pinFeature)) return `needs the feature ${pinFeature}`;
      return matrices.some(matrix => JSON.stringify(matrix) === text)
        ? null
        : `needs subgroup matrices ${text}, which the device does not have`;
    },
  };
}

const pinFeature = 'subgroup-size-control';

/** Whether kernels on a device must ask for subgroups of 32 lanes. */
export const needsPin = ({ subgroupMinSize, subgroupMaxSize }: Capabilities): boolean =>
  subgroupMinSize !== lanes || subgroupMaxSize !== lanes;

const gridOf = ({ own, subgroups }: MatrixTileShape): LaneGrid => ({
  ...(own === 'queries' ? { tx: 2, ty: kept * subgroups } : { tx: subgroups, ty: met }),
  rows: 1,
  cols: 4,
});

/**
 * Scores and results are computed as subgroup matrices. Matrices cannot be read element by element: scores go through `scratch` to the
 * lanes that score them, and what lanes make of them through `weights` back into matrices.
 */
function matrixWork(tile: MatrixTileShape): TileWork {
  const { spelling = subgroupMatrices(tile.matrix, tile.pinned) } = tile;
  const own =
    tile.own === 'queries'
      ? `let tx = subgroup_lane % 2u;\n  let ty = subgroup * ${kept}u + subgroup_lane / 2u;`
      : 'let tx = subgroup;\n  let ty = subgroup_lane;';
  return {
    parts: (all, summed) => [
      declarations(tile, all, summed),
      spelling.part(operandsMet(tile, all, summed).map(poolOf)),
      weightedPart,
    ],
    place: `${spelling.place}
  let own_scratch = subgroup * ${scratchSize(tile)}u;
  let own_weights = subgroup * ${weightsSize(tile)}u;
  ${own}`,
    keep: all => all.map(product => keep(tile, spelling, product)).join('\n  '),
    products: (all, sums) => products(tile, spelling, all, sums),
    statistic: statistic => spelling.statistic(gridOf(tile), statistic),
    accumulate: (_, ...sums) => accumulate(tile, spelling, sums),
    ...results(tile, spelling),
  };
}
