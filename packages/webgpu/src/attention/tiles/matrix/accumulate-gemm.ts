import { repeat } from '../../../codegen/text.ts';
import { lazyRescaling } from '../scores/lazy-rescaling.ts';
import type { AccumulateGemm, TileResults } from '../tile-backend.ts';
import {
  block,
  blocks,
  firstOfLane,
  heldRows,
  note,
  poolOf,
  poolPitch,
  scratchPitch,
  streamedRows,
  weightsPitch,
  weightsSize,
} from './memory.ts';
import type { MatrixPlace, MatrixTile, MatrixTileShape } from './shape.ts';

/** Results are matrices named `NAME_d_r`: the r-th matrix of a subgroup's rows, starting at channel d. */
const resultMatrix = (name: string, d: number, r: number): string => `${name}_${d}_${r}`;

const perBlock = (D: number, text: (d: number) => string): string => repeat(blocks(D), n => text(n * block));

/**
 * Adds sums once all lanes have stored their weights. Lanes cannot access the elements of a matrix. Therefore
 * results go through `scratch` if rows must be rescaled, or may hold a NaN or infinity that some of their
 * weights mask; both are rare.
 */
export function accumulate(tile: MatrixTile, sums: readonly AccumulateGemm[]): string {
  const rescaled = sums.map(({ rescale }) => rescale?.(0)).find(factor => factor !== undefined);
  return `{
    ${sums.map((sum, n) => storeWeights(tile, sum, n)).join('\n')}
    ${
      rescaled
        ? `if (${rescaled} != 1.0) {
      atomicOr(&notes, ${note.rescale}u);
    }
    `
        : ''
    }let noted = workgroupUniformLoad(&notes);
    if (lane == 0u) {
      atomicStore(&notes, 0u);
    }
    ${sums.map((sum, n) => addUp(tile, sum, n)).join('\n')}
    }`;
}

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

function addUp(tile: MatrixTile, sum: AccumulateGemm, n: number): string {
  const { into, operand, rescale } = sum;
  const { D } = operand;
  const change = (d: number): string =>
    throughScratch(
      tile,
      into,
      d,
      at => `${rescale ? repeat(2, v => `${at(v)} *= ${rescale(0)};`) : ''}
        if ((noted & ${note.nonFinite}u) != 0u) {
          for (var k = 0u; k < ${streamedRows}u; k++) {
            let w = f32(${weightOf(tile, n, 'subgroup_lane / 2u', 'k')});
            let x = k * ${poolPitch(tile, D)}u + ${d / 4}u + subgroup_lane % 2u * 2u;
            ${repeat(2, v => `${at(v)} += weighted(w, vec4f(${poolOf(operand)}[x + ${v}u]));`)}
          }
        }`,
    );
  return `if (noted != 0u) {
      ${perBlock(D, change)}
    }
    if ((noted & ${note.nonFinite}u) == 0u) {
      ${multiply(tile, sum, n)}
    }`;
}

function weightOf(tile: MatrixTileShape, n: number, row: string, k: string): string {
  const pitch = weightsPitch(tile);
  const [line, place] = tile.stationary === 'queries' ? [row, k] : [k, `(${row})`];
  return `weights[${weightsAt(tile, n)} + ${line} * ${pitch}u + ${place} / 4u][${place} % 4u]`;
}

function multiply(tile: MatrixTile, { into, operand }: AccumulateGemm, n: number): string {
  const { stationary, matrix } = tile;
  const { load, multiplyAccumulate } = tile.spelling;
  const { M, N, K } = matrix;
  const stride = weightsPitch(tile);
  // The weights of a subgroup's keys are the columns of the matrix.
  const placeOf = (r: number, k: number): MatrixPlace => ({
    ...{ in: 'weights', stride },
    offset: `${weightsAt(tile, n)} + ${stationary === 'queries' ? r * M * stride + (k * K) / 4 : k * K * stride + (r * M) / 4}u`,
    order: stationary === 'queries' ? 'row_major' : 'col_major',
  });
  const pitch = poolPitch(tile, operand.D);
  const add = (k: number, d: number): string => {
    const streamed = load('right', {
      ...{ in: poolOf(operand), offset: `${k * K * pitch + d / 4}u`, stride: pitch, order: 'row_major' },
    });
    return `{
        let streamed = ${streamed};
        ${repeat(heldRows / M, r => {
          const sum = resultMatrix(into, d, r);
          return `${sum} = ${multiplyAccumulate(`weights${r}`, 'streamed', sum)};`;
        })}
        }`;
  };
  return repeat(
    streamedRows / K,
    k => `{
        ${repeat(heldRows / M, r => `let weights${r} = ${load('left', placeOf(r, k))};`)}
        ${repeat((blocks(operand.D) * block) / N, d => add(k, d * N))}
      }`,
  );
}

/**
 * WGSL: the lane's v-th vec4 of 16 result channels in `scratch`. A lane has two of these vec4s: half of a row
 * of its subgroup.
 */
const vectorInScratch = (tile: MatrixTileShape, v: number): string =>
  `scratch[own_scratch + subgroup_lane / 2u * ${scratchPitch(tile)}u + subgroup_lane % 2u * 2u + ${v}u]`;

/**
 * Statements that let lanes change 16 channels of a result, starting at channel d; each lane changes the
 * vec4s `at(0)` and `at(1)`.
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
      ${perMatrix(tile, d, (n, r, place) => `${resultMatrix(name, n, r)} = ${tile.spelling.load('result', place)};`)}
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
    repeat(heldRows / M, r => {
      const offset = `own_scratch + ${r * M * stride + (n * N) / 4}u`;
      return text(d + n * N, r, { in: 'scratch', offset, stride, order: 'row_major' });
    }),
  );
}

const storeBlock = (tile: MatrixTile, name: string, d: number): string =>
  perMatrix(tile, d, (n, r, place) => tile.spelling.store(resultMatrix(name, n, r), place));

/**
 * A lane has half of the channels of a row of its subgroup: out of each 16, the first two or the last two
 * vec4s.
 */
export function results(tile: MatrixTile): TileResults {
  return {
    accumulators: (name, D) =>
      perBlock(D, d =>
        perMatrix(tile, d, (n, r) => `var ${resultMatrix(name, n, r)} = ${tile.spelling.zero};`),
      ),
    lazyRescaling,
    keepsLoops: false,
    results: (name, D) => `var ${name}_rows = array<vec4f, ${2 * blocks(D)}>();
    ${perBlock(
      D,
      d => `workgroupBarrier();
    ${storeBlock(tile, name, d)}
    workgroupBarrier();
    ${repeat(2, v => `${name}_rows[${d / 8 + v}] = ${vectorInScratch(tile, v)};`)}`,
    )}`,
    resultRows: 1,
    resultPlace: `(subgroup * ${heldRows}u + subgroup_lane / 2u)`,
    vectors: D => 2 * blocks(D),
    vector: n => `${n} / 2u * 4u + ${n} % 2u + subgroup_lane % 2u * 2u`,
  };
}
