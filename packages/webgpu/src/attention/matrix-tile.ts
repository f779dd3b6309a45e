import type { MatrixShape } from '../kernel/matrix-shape.ts';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { type MatrixPlace, type MatrixSpelling, subgroupMatrices } from './matrix-spelling.ts';
import { type MatrixTile, repeat } from './tile.ts';
import {
  type Product,
  type TileOperand,
  type TileResults,
  type TileWork,
  type WeightedSum,
  weightedPart,
} from './tile-work.ts';

/** Lanes of a subgroup with matrices, rows that it keeps, and rows that it meets at a time. */
export const matrixTileSizes = { lanes: 32, kept: 16, met: 32 } as const;
const { lanes, kept, met } = matrixTileSizes;

/** What a tile is made of: each of M, N and K divides 16. */
export interface MatrixTileShape {
  readonly own: MatrixTile['own'];
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  readonly matrix: MatrixShape;
  /** How operations on matrices are written. Default: as Dawn has them. */
  readonly spelling?: MatrixSpelling;
}

/**
 * A tile of which each subgroup, of 32 lanes, keeps 16 rows and their results as subgroup matrices, and meets 32 rows of the other side at
 * a time, which all subgroups read into workgroup memory together.
 */
export function matrixTile(shape: MatrixTileShape): MatrixTile {
  const { own, subgroups } = shape;
  const bytes = memoryOf(shape);
  const text = JSON.stringify(shape.matrix);
  return {
    ...{ through: 'matrix', own, component: shape.matrix.component, work: matrixWork(shape) },
    grid: {
      ...(own === 'queries' ? { tx: 2, ty: kept * subgroups } : { tx: subgroups, ty: met }),
      rows: 1,
      cols: 4,
    },
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

/** Channels that pass through workgroup memory together. */
const chunk = 64;

/** Elements from one row in workgroup memory to the next: padded, so that rows start in different banks. */
const poolPitch = chunk + 8;
const scratchPitch = { queries: met + 4, keys: kept + 4 } as const;
const weightsPitch = { queries: met + 8, keys: kept + 8 } as const;
/** Rows of a subgroup's scores, of which one side is kept and the other is met. */
const scoreRows = { queries: kept, keys: met } as const;

/** Channels of a row in whole blocks of 16, which every shape of matrix divides. */
const block = 16;
const blocks = (D: number): number => Math.ceil(D / block);

const poolRows = ({ subgroups }: MatrixTileShape): number => Math.max(kept * subgroups, met);

/** Elements of a subgroup's part of `scratch`: its scores, or 16 channels of its results. */
const scratchSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * scratchPitch[tile.own];
const weightsSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * weightsPitch[tile.own];

/** Bytes of workgroup memory that a kernel on this tile needs. */
function memoryOf(tile: MatrixTileShape): number {
  const { subgroups, matrix } = tile;
  const bytes = matrix.component === 'f16' ? 2 : 4;
  const elements = poolRows(tile) * poolPitch + subgroups * weightsSize(tile);
  return bytes * elements + 4 * (subgroups * scratchSize(tile) + 2 * kept * subgroups) + 8;
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
    accumulate: (...sums) =>
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
var<workgroup> row_partial: array<f32, ${2 * kept * subgroups}>;
var<workgroup> garbage: atomic<u32>;
var<workgroup> rescales: atomic<u32>;`,
  };
}

/** Statements that put the chunk from channel d0 on of `rows` rows into the pool. With `watch`, they look for garbage. */
function stage(
  tile: MatrixTileShape,
  { name, row, first, end, channels }: TileOperand,
  rows: number,
  d0: number,
  watch?: string,
): string {
  return `for (var n = lane; n < ${(rows * chunk) / 4}u; n += ${lanes * tile.subgroups}u) {
      let r = n / ${chunk / 4}u;
      let d = ${d0}u + 4u * (n % ${chunk / 4}u);
      let s = ${first} + r;
      var x = vec4f();
      if (s < ${end} && d < ${channels}) {
        x = ${name}_load4(${row('s')}, d);
      }
      ${watch ? `if (${watch} && has_non_finite(x)) {\n        atomicStore(&garbage, 1u);\n      }` : ''}
      let at = r * ${poolPitch}u + 4u * (n % ${chunk / 4}u);
      ${repeat(4, e => `pool[at + ${e}u] = ${tile.matrix.component}(x[${e}]);`, '\n      ')}
    }`;
}

/** Text for each chunk of a row of D channels. */
const perChunk = (D: number, text: (d0: number, channels: number) => string): string =>
  repeat(
    Math.ceil(D / chunk),
    c => text(c * chunk, Math.min(chunk, block * blocks(D) - c * chunk)),
    '\n    ',
  );

/** Of a product, whose rows subgroups keep, and whose they meet. */
const sidesOf = (
  tile: MatrixTileShape,
  { a, b }: Product,
): { readonly keeps: TileOperand; readonly meets: TileOperand } =>
  tile.own === 'queries' ? { keeps: a, meets: b } : { keeps: b, meets: a };

/** Rows of queries are those of left matrices, rows of keys columns of right ones. */
const sizesOf = ({
  own,
  matrix: { M, N },
}: MatrixTileShape): { readonly keptSize: number; readonly metSize: number } =>
  own === 'queries' ? { keptSize: M, metSize: N } : { keptSize: N, metSize: M };

/** Declares `kept_NAME_d_r`: a subgroup's own rows, the r-th matrix of them, from channel d on. */
function keep(tile: MatrixTileShape, { load }: MatrixSpelling, product: Product): string {
  const { keeps } = sidesOf(tile, product);
  const { keptSize } = sizesOf(tile);
  const { K } = tile.matrix;
  return perChunk(
    keeps.D,
    (d0, channels) => `workgroupBarrier();
    ${stage(tile, keeps, kept * tile.subgroups, d0)}
    workgroupBarrier();
    ${repeat(channels / K, d =>
      repeat(kept / keptSize, r => {
        const offset = `(subgroup * ${kept}u + ${r * keptSize}u) * ${poolPitch}u + ${d * K}u`;
        const value = load(tile.own === 'queries' ? 'left' : 'right', {
          ...{ in: 'pool', offset, stride: poolPitch },
          order: tile.own === 'queries' ? 'row_major' : 'col_major',
        });
        return `let kept_${keeps.name}_${d0 + d * K}_${r} = ${value};`;
      }),
    )}`,
  );
}

/** One matrix of products, in `scratch` and from there in each lane's `INTOb`. */
function products(
  tile: MatrixTileShape,
  { zero, load, multiplyAccumulate, store }: MatrixSpelling,
  product: Product,
): string {
  const { own } = tile;
  const { keeps, meets } = sidesOf(tile, product);
  const { keptSize, metSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const pitch = scratchPitch[own];
  const sum = (m: number, r: number): string => `${product.into}_sum${m}_${r}`;
  const perSum = (text: (m: number, r: number) => string): string =>
    repeat(met / metSize, m => repeat(kept / keptSize, r => text(m, r)));
  const multiply = (d0: number, d: number, m: number): string => {
    const other = load(own === 'queries' ? 'right' : 'left', {
      ...{ in: 'pool', offset: `${m * metSize * poolPitch + d * K}u`, stride: poolPitch },
      order: own === 'queries' ? 'col_major' : 'row_major',
    });
    const one = (r: number): string => `kept_${keeps.name}_${d0 + d * K}_${r}`;
    return `{
      let met = ${other};
      ${repeat(
        kept / keptSize,
        r =>
          `${sum(m, r)} = ${own === 'queries' ? multiplyAccumulate(one(r), 'met', sum(m, r)) : multiplyAccumulate('met', one(r), sum(m, r))};`,
        '\n      ',
      )}
    }`;
  };
  const place = (m: number, r: number): MatrixPlace => {
    const [row, column] = own === 'queries' ? [r * keptSize, m * metSize] : [m * metSize, r * keptSize];
    return {
      in: 'scratch',
      offset: `own_scratch + ${row * pitch + column}u`,
      stride: pitch,
      order: 'row_major',
    };
  };
  const first = own === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 16u` : `subgroup_lane * ${pitch}u`;
  const element = (b: number, e: number): string => `scratch[own_scratch + ${first} + ${4 * b + e}u]`;
  return `${perSum((m, r) => `var ${sum(m, r)} = ${zero};`)}
    ${perChunk(
      meets.D,
      (d0, channels) => `workgroupBarrier();
    ${stage(tile, meets, met, d0)}
    workgroupBarrier();
    ${repeat(channels / K, d => repeat(met / metSize, m => multiply(d0, d, m)))}`,
    )}
    ${perSum((m, r) => store(sum(m, r), place(m, r)))}
    workgroupBarrier();
    ${repeat(4, b => `let ${product.into}${b} = vec4f(${repeat(4, e => element(b, e), ', ')});`, '\n    ')}`;
}

/** Results as matrices `NAME_d_r`: the r-th of a subgroup's rows, from channel d on. */
const resultMatrix = (name: string, d: number, r: number): string => `${name}_${d}_${r}`;

function accumulate(
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
function results(tile: MatrixTileShape, spelling: MatrixSpelling): TileResults {
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
