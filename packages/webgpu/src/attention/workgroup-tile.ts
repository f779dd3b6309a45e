import type { ShaderPart } from '../kernel/shader-part.ts';
import { bytesOfVariables, repeat, tileCols, tileLanes, tileRows, type WorkgroupTile } from './tile.ts';
import {
  type Product,
  resultsOfLanes,
  type TileOperand,
  type TileWork,
  type WeightedSum,
  weightedPart,
} from './tile-work.ts';

/** vec4s from one row in workgroup memory to the next: an odd number, so that rows start in different banks. */
const pitch = (used: number): number => used + 1 - (used % 2);

const poolVectors = (tile: WorkgroupTile): number => (tileRows(tile) + tileCols(tile)) * pitch(tile.depth);
const weightVectors = (tile: WorkgroupTile): number =>
  Math.max(tileCols(tile) * pitch(tile.ty), tileRows(tile) * pitch(tile.tx));

const vectorBytes = ({ pool }: WorkgroupTile): number => (pool === 'f16' ? 8 : 16);
const vectorType = ({ pool }: WorkgroupTile): string => (pool === 'f16' ? 'vec4<f16>' : 'vec4f');

/** A vec4 of the pool as a vec4f. */
const pooled = ({ pool }: WorkgroupTile, at: string): string =>
  pool === 'f16' ? `vec4f(pool[${at}])` : `pool[${at}]`;

/** Bytes of workgroup memory that a kernel on this tile needs. */
export const workgroupTileMemory = (tile: WorkgroupTile): number =>
  bytesOfVariables([
    vectorBytes(tile) * poolVectors(tile),
    16 * weightVectors(tile),
    4 * tileRows(tile) * tile.tx,
    4,
  ]);

/** vec4s of a result row that each lane holds; lane x has vectors x, x + tx, x + 2·tx, … */
const vectorsPerLane = (D: number, { tx }: WorkgroupTile): number => Math.ceil(D / 4 / tx);

/**
 * Workgroup memory: `pool` holds operand chunks, `weights` the tile that multiplies an operand (probabilities or their
 * gradients), `row_partial` one partial result per row and lane, `garbage` whether an operand held a NaN or infinity.
 */
function declarations(tile: WorkgroupTile): ShaderPart {
  return {
    directives: tile.pool === 'f16' ? ['enable f16;'] : [],
    code: `var<workgroup> pool: array<${vectorType(tile)}, ${poolVectors(tile)}>;
var<workgroup> weights: array<vec4f, ${weightVectors(tile)}>;
var<workgroup> row_partial: array<f32, ${tileRows(tile) * tile.tx}>;
var<workgroup> garbage: atomic<u32>;`,
  };
}

/** The lane's 4 × 4 scores and weights meet the operands in workgroup memory. */
export function workgroupWork(tile: WorkgroupTile): TileWork {
  return {
    parts: [declarations(tile), weightedPart],
    place: `let tx = lane % ${tile.tx}u;\n  let ty = lane / ${tile.tx}u;`,
    keep: () => '',
    products: all => products(tile, all),
    accumulate: (...sums) =>
      sums
        .map(sum => `${storeWeights(tile, sum)}\n    ${accumulate(tile, sum)}`)
        .join('\n    workgroupBarrier();\n    '),
    ...resultsOfLanes({
      resultRows: 4,
      resultPlace: 'ty',
      vectors: D => vectorsPerLane(D, tile),
      vector: n => `${n * tile.tx}u + tx`,
    }),
  };
}

/** Statements that put `depth` vec4s from channel d0 on of `count` rows into the pool; row r goes to place `slot`. */
function loadChunk(
  tile: WorkgroupTile,
  operands: readonly TileOperand[],
  count: number,
  slot: string,
): string {
  const { depth } = tile;
  const load = ({ name, row, first, end }: TileOperand): string => `let s = ${first} + r;
      if (s < ${end} && d < channels) {
        x = ${name}_load4(${row('s')}, d);
      }`;
  const [one = '', other] = operands.map(load);
  return `for (var n = lane; n < ${count * depth}u; n += ${tileLanes(tile)}u) {
      let r = n / ${depth}u;
      let d = d0 + 4u * (n % ${depth}u);
      var x = vec4f();
      ${other === undefined ? one : `if (product == 0u) {\n      ${one}\n      } else {\n      ${other}\n      }`}
      pool[(${slot}) * ${pitch(depth)}u + n % ${depth}u] = ${vectorType(tile)}(x);
    }`;
}

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the other: their text
 * is most of a kernel, and compilers take much longer for twice as much.
 */
function products(tile: WorkgroupTile, all: readonly [Product] | readonly [Product, Product]): string {
  const [first, second] = all;
  if (!second) return sumOfProducts(tile, all, first.into, first.a.channels);
  const copy = ({ into }: Product): string => repeat(4, r => `${into}${r} = sum${r};`, '\n      ');
  return `${all.map(({ into }) => repeat(4, r => `var ${into}${r} = vec4f();`, '\n    ')).join('\n    ')}
    for (var product = 0u; product < 2u; product++) {
    ${sumOfProducts(tile, all, 'sum', `select(${first.a.channels}, ${second.a.channels}, product == 1u)`)}
    if (product == 0u) {
      ${copy(first)}
    } else {
      ${copy(second)}
    }
    }`;
}

/**
 * Declares `sum0`…`sum3` and adds the products of one matrix up. The four keys of a lane are neighbours, but tx places apart in the
 * pool, so that lanes side by side read side by side.
 */
function sumOfProducts(tile: WorkgroupTile, all: readonly Product[], sum: string, channels: string): string {
  const { tx, depth } = tile;
  const p = pitch(depth);
  const rows = tileRows(tile);
  const rowsOf = (side: 'a' | 'b'): TileOperand[] => all.map(product => product[side]);
  return `let channels = ${channels};
    ${repeat(4, r => `var ${sum}${r} = vec4f();`, '\n    ')}
    for (var d0 = 0u; d0 < channels; d0 += ${4 * depth}u) {
    workgroupBarrier();
    ${loadChunk(tile, rowsOf('a'), rows, 'r')}
    ${loadChunk(tile, rowsOf('b'), tileCols(tile), `${rows}u + (r & 3u) * ${tx}u + (r >> 2u)`)}
    workgroupBarrier();
    let used = min(${depth}u, (channels - d0 + 3u) / 4u);
    for (var d = 0u; d < used; d++) {
      ${repeat(4, r => `let a${r} = ${pooled(tile, `(ty * 4u + ${r}u) * ${p}u + d`)};`, '\n      ')}
      ${repeat(4, c => `let b${c} = ${pooled(tile, `(${rows + c * tx}u + tx) * ${p}u + d`)};`, '\n      ')}
      ${repeat(4, r => `${sum}${r} += vec4f(${repeat(4, c => `dot(a${r}, b${c})`, ', ')});`, '\n      ')}
    }
    }`;
}

/** Stores this lane's 4 × 4 weights, a vec4f over keys for each query, so that those of one key, or of one query, are together. */
function storeWeights({ tx, ty }: WorkgroupTile, { weight, over }: WeightedSum): string {
  return over === 'queries'
    ? repeat(4, r => `weights[(ty * 4u + ${r}u) * ${pitch(tx)}u + tx] = ${weight(r)};`, '\n    ')
    : repeat(
        4,
        c =>
          `weights[(tx * 4u + ${c}u) * ${pitch(ty)}u + ty] = vec4f(${repeat(4, r => `${weight(r)}[${c}]`, ', ')});`,
        '\n    ',
      );
}

/** Of `length` rows of D channels, how many are in the pool at a time: all such parts are of one size. 0 where not one has room. */
function rowsInPool(tile: WorkgroupTile, D: number, length: number): number {
  const room = Math.floor(poolVectors(tile) / (vectorsPerLane(D, tile) * tile.tx));
  for (let rows = Math.min(room, length); rows > 0; rows--) if (length % rows === 0) return rows;
  return 0;
}

/** Whether a tile has room for rows of a result of D channels. */
export const hasRoomForRows = (tile: WorkgroupTile, D: number): boolean =>
  rowsInPool(tile, D, tileCols(tile)) > 0 && rowsInPool(tile, D, tileRows(tile)) > 0;

/** Adds the stored weights · operand to the accumulators. */
function accumulate(tile: WorkgroupTile, { into, operand, over, watch }: WeightedSum): string {
  const { row, first, end, channels, D } = operand;
  const perLane = vectorsPerLane(D, tile);
  const width = perLane * tile.tx;
  const length = over === 'keys' ? tileCols(tile) : tileRows(tile);
  const chunk = rowsInPool(tile, D, length);
  const p = pitch(over === 'keys' ? tile.ty : tile.tx);
  const sum = (multiply: (w: string, x: string) => string): string => `for (var k = 0u; k < ${chunk}u; k++) {
        let w = weights[(k0 + k) * ${p}u + ty];
        ${repeat(perLane, n => `let x${n} = ${pooled(tile, `k * ${width}u + ${n * tile.tx}u + tx`)};`, '\n        ')}
        ${repeat(4, r => repeat(perLane, n => `${into}${r}_${n} += ${multiply(`w[${r}]`, `x${n}`)};`, '\n        '), '\n        ')}
      }`;
  return `for (var k0 = 0u; k0 < ${length}u; k0 += ${chunk}u) {
      workgroupBarrier();
      for (var n = lane; n < ${chunk * width}u; n += ${tileLanes(tile)}u) {
        let s = ${first} + k0 + n / ${width}u;
        let d = 4u * (n % ${width}u);
        var x = vec4f();
        if (s < ${end} && d < ${channels}) {
          x = ${operand.name}_load4(${row('s')}, d);
        }
        if (${watch} && has_non_finite(x)) {
          atomicStore(&garbage, 1u);
        }
        pool[n] = ${vectorType(tile)}(x);
      }
      workgroupBarrier();
      if (atomicLoad(&garbage) == 0u) {
        ${sum((w, x) => `${w} * ${x}`)}
      } else {
        ${sum((w, x) => `weighted(${w}, ${x})`)}
      }
    }`;
}
