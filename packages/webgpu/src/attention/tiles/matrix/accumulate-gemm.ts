import type { MatrixPlace } from '../../../codegen/matrices/matrix-operations.ts';
import { lanes } from '../../../codegen/matrices/subgroup-lanes.ts';
import { repeat } from '../../../codegen/text.ts';
import type { AccumulateGemm, ScoreGemm } from '../interface/tile-gemms.ts';
import type { TileResults } from '../interface/tile-results.ts';
import {
  block,
  blocks,
  firstOfLane,
  flag,
  heldRows,
  scratchPitch,
  stagedArray,
  stagedPitch,
  streamedRows,
  weightsPitch,
  weightsSize,
} from './memory.ts';
import type { MatrixTile, MatrixTileShape } from './shape.ts';
import { streamsOf } from './stage.ts';

/** Results are matrices named `NAME_d_r`: the r-th matrix of a subgroup's rows, starting at channel d. */
const resultMatrix = (name: string, d: number, r: number): string => `${name}_${d}_${r}`;

const perBlock = (D: number, text: (d: number) => string): string => repeat(blocks(D), n => text(n * block));

/**
 * Adds sums once all lanes have stored their weights. Leaves the loop over tiles where results must be
 * rescaled, or rows hold a NaN or infinity that some of their weights mask: see `slowPath`. In full tiles, a
 * barrier is enough if nothing is masked and rescaling is deferred.
 */
export function accumulate(
  tile: MatrixTile,
  gemms: readonly ScoreGemm[],
  sums: readonly AccumulateGemm[],
): string {
  const rescaled = rescaleOf(sums);
  const combine = `${tile.instructions.combineFlags('own_flags')}
    if (flags != 0u) {
      break;
    }`;
  const fullTilesHaveFlags = sums.some(
    ({ rescale, lazy, nonFiniteGuard }) => (rescale && !lazy) || nonFiniteGuard !== '!full_tile',
  );
  return `{
    ${sums.map((sum, n) => storeWeights(tile, sum, n)).join('\n')}
    ${
      rescaled
        ? `factor = ${rescaled};
    if (factor != 1.0) {
      own_flags |= ${flag.rescale}u;
    }`
        : ''
    }
    ${streamsOf(tile, gemms, sums).beforeSums}
    ${
      fullTilesHaveFlags
        ? combine
        : `if (full_tile) {
      workgroupBarrier();
    } else {
      ${combine}
    }`
    }
    ${sums.map((sum, n) => multiply(tile, sum, n)).join('\n')}
    }`;
}

const rescaleOf = (sums: readonly AccumulateGemm[]): string | undefined =>
  sums.map(({ rescale }) => rescale?.(0)).find(factor => factor !== undefined);

/**
 * Statements for a tile at which results must be rescaled, or rows hold a NaN or infinity. Lanes cannot
 * access the elements of a matrix, so the results go through `scratch`. Such tiles are rare; within the loop
 * over tiles, the statements made a stand-alone forward kernel take 2 to 18 % longer on an H200.
 */
export const slowPath = (tile: MatrixTile, sums: readonly AccumulateGemm[]): string =>
  `${sums.map((sum, n) => perBlock(sum.operand.D, d => changeBlock(tile, sum, n, d))).join('\n')}
    ${
      rescaleOf(sums)
        ? `if ((flags & ${flag.nonFinite}u) == 0u) {
      ${sums.map((sum, n) => multiply(tile, sum, n)).join('\n')}
    }`
        : ''
    }`;

/** Statements that declare the flags, and the factor of the lane's row, that `slowPath` reads. */
export const declareFlags = (sums: readonly AccumulateGemm[]): string =>
  `var flags = 0u;${rescaleOf(sums) ? '\n  var factor = 1.0;' : ''}`;

/**
 * WGSL: the index in `weights` at which a subgroup's weights of the n-th sum start. The weights of held keys
 * have one row for each streamed query.
 */
const weightsAt = (tile: MatrixTileShape, n: number): string =>
  `own_weights + ${n * tile.subgroups * weightsSize(tile)}u`;

function storeWeights(tile: MatrixTileShape, { weight }: AccumulateGemm, n: number): string {
  const first = firstOfLane(tile, weightsPitch(tile));
  return repeat(
    4,
    b => `weights[${weightsAt(tile, n)} + ${first} + ${b}u] = vec4<${tile.matrix.component}>(${weight(b)});`,
  );
}

/** Statements that rescale 16 channels of a result, and add rows with a NaN or infinity to them. */
function changeBlock(tile: MatrixTile, sum: AccumulateGemm, n: number, d: number): string {
  const { into, operand, rescale } = sum;
  const { row, first, vectors } = laneOfBlock(tile);
  return throughScratch(
    tile,
    into,
    d,
    at => `${rescale ? repeat(vectors, v => `${at(v)} *= factor;`) : ''}
        if ((flags & ${flag.nonFinite}u) != 0u) {
          for (var k = 0u; k < ${streamedRows(tile)}u; k++) {
            let w = f32(${weightOf(tile, n, row, 'k')});
            let x = k * ${stagedPitch(tile, operand.D)}u + ${d / 4}u + ${first};
            ${repeat(vectors, v => `${at(v)} += weighted(w, vec4f(${stagedArray(operand)}[x + ${v}u]));`)}
          }
        }`,
  );
}

function weightOf(tile: MatrixTileShape, n: number, row: string, k: string): string {
  const pitch = weightsPitch(tile);
  const [line, element] = tile.stationary === 'queries' ? [row, k] : [k, `(${row})`];
  return `weights[${weightsAt(tile, n)} + ${line} * ${pitch}u + ${element} / 4u][${element} % 4u]`;
}

function multiply(tile: MatrixTile, { into, operand }: AccumulateGemm, n: number): string {
  const { stationary, matrix } = tile;
  const { load, multiplyAccumulate } = tile.instructions;
  const { M, N, K } = matrix;
  const stride = weightsPitch(tile);
  // The weights of a subgroup's keys are the columns of the matrix.
  const placeOf = (r: number, k: number): MatrixPlace => ({
    ...{ in: 'weights', stride },
    offset: `${weightsAt(tile, n)} + ${stationary === 'queries' ? r * M * stride + (k * K) / 4 : k * K * stride + (r * M) / 4}u`,
    order: stationary === 'queries' ? 'row_major' : 'col_major',
  });
  const pitch = stagedPitch(tile, operand.D);
  const add = (k: number, d: number): string => {
    const streamed = load('right', {
      ...{ in: stagedArray(operand), offset: `${k * K * pitch + d / 4}u`, stride: pitch, order: 'row_major' },
    });
    return `{
        let streamed = ${streamed};
        ${repeat(heldRows(tile) / M, r => {
          const sum = resultMatrix(into, d, r);
          return `${sum} = ${multiplyAccumulate(`weights${r}`, 'streamed', sum)};`;
        })}
        }`;
  };
  return repeat(
    streamedRows(tile) / K,
    k => `{
        ${repeat(heldRows(tile) / M, r => `let weights${r} = ${load('left', placeOf(r, k))};`)}
        ${repeat((blocks(operand.D) * block) / N, d => add(k, d * N))}
      }`,
  );
}

/**
 * WGSL: the row of its subgroup of which a lane has 16 result channels or half of them, its first vec4 of
 * these, and their number.
 */
const laneOfBlock = (
  tile: MatrixTileShape,
): { readonly row: string; readonly first: string; readonly vectors: number } =>
  heldRows(tile) === lanes
    ? { row: 'subgroup_lane', first: '0u', vectors: 4 }
    : { row: 'subgroup_lane / 2u', first: 'subgroup_lane % 2u * 2u', vectors: 2 };

/** WGSL: the lane's v-th vec4 of 16 result channels in `scratch`. */
function vectorInScratch(tile: MatrixTileShape, v: number): string {
  const { row, first } = laneOfBlock(tile);
  return `scratch[subgroup][${row} * ${scratchPitch(tile)}u + ${first} + ${v}u]`;
}

/**
 * Statements that let lanes change 16 channels of a result, starting at channel d; each lane changes its
 * vec4s `at(0)`, `at(1)`, ….
 */
function throughScratch(
  tile: MatrixTile,
  name: string,
  d: number,
  change: (at: (v: number) => string) => string,
): string {
  return `${storeBlock(tile, name, d)}
      workgroupBarrier();
      {
        ${change(v => vectorInScratch(tile, v))}
      }
      workgroupBarrier();
      ${perMatrix(tile, d, (n, r, place) => `${resultMatrix(name, n, r)} = ${tile.instructions.load('result', place)};`)}
      workgroupBarrier();`;
}

/** Makes text for each matrix of 16 channels of a result, with its place in `scratch`. */
function perMatrix(
  tile: MatrixTileShape,
  d: number,
  text: (n: number, r: number, place: MatrixPlace) => string,
): string {
  const { M, N } = tile.matrix;
  const stride = scratchPitch(tile);
  return repeat(block / N, n =>
    repeat(heldRows(tile) / M, r => {
      const offset = `${r * M * stride + (n * N) / 4}u`;
      return text(d + n * N, r, { in: 'scratch[subgroup]', offset, stride, order: 'row_major' });
    }),
  );
}

const storeBlock = (tile: MatrixTile, name: string, d: number): string =>
  perMatrix(tile, d, (n, r, place) => tile.instructions.store(resultMatrix(name, n, r), place));

/** The results of a lane: see `laneOfBlock`. */
export function results(tile: MatrixTile): Omit<TileResults, 'loop' | 'specialised' | 'lazyRescaling'> {
  const { row, vectors } = laneOfBlock(tile);
  return {
    accumulators: (name, D) =>
      perBlock(D, d =>
        perMatrix(tile, d, (n, r) => `var ${resultMatrix(name, n, r)} = ${tile.instructions.zero};`),
      ),
    keepsLoops: false,
    results: (name, D) => `var ${name}_rows = array<vec4f, ${vectors * blocks(D)}>();
    ${perBlock(
      D,
      d => `workgroupBarrier();
    ${storeBlock(tile, name, d)}
    workgroupBarrier();
    ${repeat(vectors, v => `${name}_rows[${(d / block) * vectors + v}] = ${vectorInScratch(tile, v)};`)}`,
    )}`,
    resultRows: 1,
    resultBlock: `(subgroup * ${heldRows(tile)}u + ${row})`,
    vectors: D => vectors * blocks(D),
    vector: n => (vectors === 4 ? n : `${n} / 2u * 4u + ${n} % 2u + subgroup_lane % 2u * 2u`),
  };
}
