import {
  block,
  blocks,
  kept,
  type MatrixTileShape,
  met,
  perChunk,
  poolPitch,
  scratchPitch,
  stage,
  weightsPitch,
} from './matrix-layout.ts';
import type { MatrixPlace, MatrixSpelling } from './matrix-spelling.ts';
import { repeat } from './tile.ts';
import type { TileResults, WeightedSum } from './tile-work.ts';

/** Results as matrices `NAME_d_r`: the r-th of a subgroup's rows, from channel d on. */
const resultMatrix = (name: string, d: number, r: number): string => `${name}_${d}_${r}`;

export function accumulate(
  tile: MatrixTileShape,
  { load, multiplyAccumulate, store }: MatrixSpelling,
  { into, weight, operand, watch }: WeightedSum,
): string {
  const { own, matrix } = tile;
  const { M, N, K } = matrix;
  const pitch = weightsPitch[own];
  const first = own === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 16u` : `subgroup_lane * ${pitch}u`;
  // Weights of keys are stored a row for each query: the matrix of a subgroup's keys has them as columns.
  const weightsAt = (r: number, k: number): MatrixPlace =>
    own === 'queries'
      ? {
          in: 'weights',
          offset: `own_weights + ${r * M * pitch + k * K}u`,
          stride: pitch,
          order: 'row_major',
        }
      : {
          in: 'weights',
          offset: `own_weights + ${k * K * pitch + r * M}u`,
          stride: pitch,
          order: 'col_major',
        };
  const multiply = (d0: number, channels: number): string =>
    repeat(
      met / K,
      k => `{
        ${repeat(kept / M, r => `let weights${r} = ${load('left', weightsAt(r, k))};`, '\n        ')}
        ${repeat(
          channels / N,
          d => `{
        let met = ${load('right', { in: 'pool', offset: `${k * K * poolPitch + d * N}u`, stride: poolPitch, order: 'row_major' })};
        ${repeat(
          kept / M,
          r => {
            const sum = resultMatrix(into, d0 + d * N, r);
            return `${sum} = ${multiplyAccumulate(`weights${r}`, 'met', sum)};`;
          },
          '\n        ',
        )}
        }`,
          '\n        ',
        )}
      }`,
      '\n      ',
    );
  const weightOf = own === 'queries' ? `(row * ${pitch}u + k)` : `(k * ${pitch}u + row)`;
  const addOneByOne = (d0: number, d: number): string =>
    throughScratch(
      tile,
      { load, store },
      into,
      d0 + d,
      at => `let row = subgroup_lane / 2u;
        for (var k = 0u; k < ${met}u; k++) {
          let w = f32(weights[own_weights + ${weightOf}]);
          for (var e = 0u; e < 8u; e++) {
            let x = f32(pool[k * ${poolPitch}u + ${d}u + subgroup_lane % 2u * 8u + e]);
            ${at('e')} += weighted(w, vec4f(x)).x;
          }
        }`,
    );
  return `${repeat(4, b => `{\n    let weight = ${weight(b)};\n    ${repeat(4, e => `weights[own_weights + ${first} + ${4 * b + e}u] = ${matrix.component}(weight[${e}]);`, '\n    ')}\n    }`, '\n    ')}
    ${perChunk(
      operand.D,
      (d0, channels) => `workgroupBarrier();
    ${stage(tile, operand, met, d0, watch)}
    if (workgroupUniformLoad(&garbage) == 0u) {
      ${multiply(d0, channels)}
    } else {
      ${repeat(channels / block, n => addOneByOne(d0, n * block), '\n      ')}
    }`,
    )}`;
}

/** Statements that let lanes change 16 channels of a result, from channel d on: each those `at(0)` to `at(7)` of a row. */
function throughScratch(
  tile: MatrixTileShape,
  { load, store }: Pick<MatrixSpelling, 'load' | 'store'>,
  name: string,
  d: number,
  change: (at: (e: string) => string) => string,
): string {
  const pitch = scratchPitch[tile.own];
  const at = (e: string): string =>
    `scratch[own_scratch + subgroup_lane / 2u * ${pitch}u + subgroup_lane % 2u * 8u + ${e}]`;
  return `${storeBlock(tile, { store }, name, d)}
      workgroupBarrier();
      {
        ${change(at)}
      }
      workgroupBarrier();
      ${perMatrix(tile, d, (n, r, place) => `${resultMatrix(name, n, r)} = ${load('result', place)};`)}
      workgroupBarrier();`;
}

/** Text for each matrix of 16 channels of a result, with its place in `scratch`. */
function perMatrix(
  tile: MatrixTileShape,
  d: number,
  text: (n: number, r: number, place: MatrixPlace) => string,
): string {
  const { M, N } = tile.matrix;
  const stride = scratchPitch[tile.own];
  return repeat(block / N, n =>
    repeat(kept / M, r => {
      const offset = `own_scratch + ${r * M * stride + n * N}u`;
      return text(d + n * N, r, { in: 'scratch', offset, stride, order: 'row_major' });
    }),
  );
}

const storeBlock = (
  tile: MatrixTileShape,
  { store }: Pick<MatrixSpelling, 'store'>,
  name: string,
  d: number,
): string => perMatrix(tile, d, (n, r, place) => store(resultMatrix(name, n, r), place));

/** A lane has half of the channels of a row of its subgroup: of 16, the first or the second two vec4s. */
export function results(tile: MatrixTileShape, spelling: MatrixSpelling): TileResults {
  const pitch = scratchPitch[tile.own];
  const half = 'subgroup_lane % 2u';
  const row = `own_scratch + subgroup_lane / 2u * ${pitch}u + ${half} * 8u`;
  const perBlock = (D: number, text: (d: number) => string): string =>
    repeat(blocks(D), n => text(n * block), '\n    ');
  return {
    accumulators: (name, D) =>
      perBlock(D, d => perMatrix(tile, d, (n, r) => `var ${resultMatrix(name, n, r)} = ${spelling.zero};`)),
    isSlowToRescale: true,
    // Only where a row's factor is not 1, which is seldom once a row has seen its largest scores.
    rescale: (name, D, factor) => `if (${factor(0)} != 1.0) {
      atomicStore(&rescales, 1u);
    }
    if (workgroupUniformLoad(&rescales) != 0u) {
      if (lane == 0u) {
        atomicStore(&rescales, 0u);
      }
      ${perBlock(D, d =>
        throughScratch(
          tile,
          spelling,
          name,
          d,
          at => `for (var e = 0u; e < 8u; e++) {
          ${at('e')} *= ${factor(0)};
        }`,
        ),
      )}
    }`,
    results: (name, D) =>
      perBlock(
        D,
        d => `workgroupBarrier();
    ${storeBlock(tile, spelling, name, d)}
    workgroupBarrier();
    ${repeat(2, v => `let ${name}0_${d / 8 + v} = vec4f(${repeat(4, e => `scratch[${row} + ${4 * v + e}u]`, ', ')});`)}`,
      ),
    resultRows: 1,
    resultPlace: `(subgroup * ${kept}u + subgroup_lane / 2u)`,
    vectors: D => 2 * blocks(D),
    vector: n => `${4 * Math.floor(n / 2) + (n % 2)}u + ${half} * 2u`,
  };
}
