import type { ShaderPart } from '../kernel/shader-part.ts';
import {
  kept,
  lanes,
  type MatrixTileShape,
  met,
  poolPitch,
  poolRows,
  scratchSize,
  weightsSize,
} from './matrix-layout.ts';
import { keep, products } from './matrix-products.ts';
import { accumulate, results } from './matrix-results.ts';
import { subgroupMatrices } from './matrix-spelling.ts';
import { bytesOfVariables, type LaneGrid, type MatrixTile } from './tile.ts';
import { type TileWork, weightedPart } from './tile-work.ts';

/**
 * A tile of which each subgroup, of 32 lanes, keeps 16 rows and their results as subgroup matrices, and meets 32 rows of the other side at
 * a time, which all subgroups read into workgroup memory together.
 */
export function matrixTile(shape: MatrixTileShape): MatrixTile {
  const { own } = shape;
  const bytes = memoryOf(shape);
  const text = JSON.stringify(shape.matrix);
  return {
    ...{ through: 'matrix', own, component: shape.matrix.component, work: matrixWork(shape) },
    grid: gridOf(shape),
    reason({ subgroupMinSize: min, subgroupMaxSize: max, matrices, maxComputeWorkgroupStorageSize: room }) {
      if (bytes > room) return `takes ${bytes} bytes of workgroup memory, the device has ${room}`;
      if (shape.spelling) return null;
      if (min !== lanes || max !== lanes)
        return `needs subgroups of ${lanes} lanes, the device's have ${min} to ${max}`;
      return matrices.some(matrix => JSON.stringify(matrix) === text)
        ? null
        : `needs subgroup matrices ${text}, which the device does not have`;
    },
  };
}

const gridOf = ({ own, subgroups }: MatrixTileShape): LaneGrid => ({
  ...(own === 'queries' ? { tx: 2, ty: kept * subgroups } : { tx: subgroups, ty: met }),
  rows: 1,
  cols: 4,
});

/** Bytes of workgroup memory that a kernel on this tile needs. */
function memoryOf(tile: MatrixTileShape): number {
  const { subgroups, matrix } = tile;
  const bytes = matrix.component === 'f16' ? 2 : 4;
  return bytesOfVariables([
    bytes * poolRows(tile) * poolPitch,
    bytes * subgroups * weightsSize(tile),
    4 * subgroups * scratchSize(tile),
    ...[4, 4],
  ]);
}

/**
 * Scores and results are computed as subgroup matrices. Matrices cannot be read element by element: scores go through `scratch` to the
 * lanes that score them, and what lanes make of them through `weights` back into matrices.
 */
function matrixWork(tile: MatrixTileShape): TileWork {
  const { spelling = subgroupMatrices(tile.matrix) } = tile;
  const own =
    tile.own === 'queries'
      ? `let tx = subgroup_lane % 2u;\n  let ty = subgroup * ${kept}u + subgroup_lane / 2u;`
      : 'let tx = subgroup;\n  let ty = subgroup_lane;';
  return {
    parts: [spelling.part, declarations(tile), weightedPart],
    place: `${spelling.place}
  let own_scratch = subgroup * ${scratchSize(tile)}u;
  let own_weights = subgroup * ${weightsSize(tile)}u;
  ${own}`,
    keep: all => all.map(product => keep(tile, spelling, product)).join('\n  '),
    products: all => all.map(product => products(tile, spelling, product)).join('\n    '),
    statistic: statistic => spelling.statistic(gridOf(tile), statistic),
    begin: () => '',
    accumulate: (_, ...sums) =>
      sums.map(sum => accumulate(tile, spelling, sum)).join('\n    workgroupBarrier();\n    '),
    ...results(tile, spelling),
  };
}

function declarations(tile: MatrixTileShape): ShaderPart {
  const { subgroups, matrix } = tile;
  return {
    code: `var<workgroup> pool: array<${matrix.component}, ${poolRows(tile) * poolPitch}>;
var<workgroup> scratch: array<f32, ${subgroups * scratchSize(tile)}>;
var<workgroup> weights: array<${matrix.component}, ${subgroups * weightsSize(tile)}>;
var<workgroup> garbage: atomic<u32>;
var<workgroup> rescales: atomic<u32>;`,
  };
}
