import { laneGrid, repeat, tileCols, tileRows, type WorkgroupTile } from '../tile.ts';
import type { Product, Products, TileOperand } from '../tile-backend.ts';
import { type Chunk, overChunks } from './chunks.ts';
import { pooled, poolPitch } from './memory.ts';

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the other: their text
 * is most of a kernel, and compilers take much longer for twice as much.
 */
export function products(tile: WorkgroupTile, all: Products): string {
  const [first, second] = all;
  if (!second) return sumOfProducts(tile, all, first.into, first.a.channels);
  const { rows, cols } = laneGrid(tile);
  const copy = ({ into }: Product): string => repeat(rows * cols, b => `${into}${b} = sum${b};`, '\n      ');
  return `${all.map(({ into }) => repeat(rows * cols, b => `var ${into}${b} = vec4f();`, '\n    ')).join('\n    ')}
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
 * Declares `sum0`, `sum1`, … and adds the products of one matrix up. The keys of a lane are neighbours, but tx places apart in the
 * pool, so that lanes side by side read side by side.
 */
function sumOfProducts(tile: WorkgroupTile, all: readonly Product[], sum: string, channels: string): string {
  const { tx, depth } = tile;
  const grid = laneGrid(tile);
  const keys = 4 * grid.cols;
  const rows = tileRows(tile);
  const rowsOf = (side: 'a' | 'b'): TileOperand[] => all.map(product => product[side]);
  const slot = `${rows}u + (r & ${keys - 1}u) * ${tx}u + (r >> ${Math.log2(keys)}u)`;
  return `let channels = ${channels};
    ${repeat(grid.rows * grid.cols, b => `var ${sum}${b} = vec4f();`, '\n    ')}
    ${overChunks(
      tile,
      { at: 'd0', end: 'channels', step: 4 * depth },
      [rowsChunk(tile, rowsOf('a'), rows, 'r'), rowsChunk(tile, rowsOf('b'), tileCols(tile), slot)],
      `let used = min(${depth}u, (channels - d0 + 3u) / 4u);
    ${fastOrPlain(tile.variants?.arithmetic?.products(tile, sum), sums(tile, sum))}`,
      false,
    )}`;
}

/** Adds the products of a chunk to the sums, in numbers of f32 or all of f16. */
export function sums(tile: WorkgroupTile, sum: string, number: 'f32' | 'f16' = 'f32'): string {
  const { tx } = tile;
  const { rows, cols } = laneGrid(tile);
  const p = poolPitch(tile);
  const value = (at: string): string => (number === 'f16' ? `pool[${at}]` : pooled(tile, at));
  return `for (var d = 0u; d < used; d++) {
      ${repeat(rows, r => `let a${r} = ${value(`(ty * ${rows}u + ${r}u) * ${p}u + d`)};`, '\n      ')}
      ${repeat(4 * cols, c => `let b${c} = ${value(`(${tileRows(tile) + c * tx}u + tx) * ${p}u + d`)};`, '\n      ')}
      ${multiply(tile, sum, number)}
    }`;
}

/** Statements of which the first are for chunks that hold nothing unfit for them, if there are such. */
const fastOrPlain = (fast: string | undefined, plain: string): string =>
  fast
    ? `if (atomicLoad(&garbage) == 0u) {
    ${fast}
    } else {
    ${plain}
    }`
    : plain;

/** `depth` vec4s of `count` rows; row r goes to place `slot`. */
function rowsChunk(
  tile: WorkgroupTile,
  operands: readonly TileOperand[],
  count: number,
  slot: string,
): Chunk {
  const { depth } = tile;
  const load = ({ name, row, first, end }: TileOperand): string => `let s = ${first} + r;
      if (s < ${end} && d < channels) {
        x = ${name}_load4(${row('s')}, d);
      }`;
  const [one = '', other] = operands.map(load);
  return {
    vectors: count * depth,
    given: `let r = n / ${depth}u;`,
    read: from => `let d = ${from} + 4u * (n % ${depth}u);
      var x = vec4f();
      ${other === undefined ? one : `if (product == 0u) {\n      ${one}\n      } else {\n      ${other}\n      }`}`,
    look: tile.variants?.arithmetic?.look.products,
    slot: `(${slot}) * ${poolPitch(tile)}u + n % ${depth}u`,
  };
}

/**
 * Adds the products of four channels, of rows `a0`, … with keys `b0`, …, to the sums. Of 4 × 4 as scalar products; of more, where
 * multiplying is what takes the time, channel by channel: a multiplication and an addition are then always one instruction.
 */
function multiply(tile: WorkgroupTile, sum: string, number: 'f32' | 'f16'): string {
  const { rows, cols } = laneGrid(tile);
  const keys = (c: number): string => repeat(4, n => `b${4 * c + n}`, ', ');
  if (rows * cols === 4 && number === 'f32')
    return repeat(
      rows,
      r => `${sum}${r} += vec4f(${repeat(4, c => `dot(a${r}, b${c})`, ', ')});`,
      '\n      ',
    );
  const one = (e: number, b: number): string => {
    const factor = `vec4<${number}>(a${Math.floor(b / cols)}[${e}])`;
    return `${sum}${b} = fma(${factor}, keys${b % cols}[${e}], ${sum}${b});`;
  };
  return `${repeat(cols, c => `let keys${c} = transpose(mat4x4<${number}>(${keys(c)}));`, '\n      ')}
      ${repeat(4, e => repeat(rows * cols, b => one(e, b), '\n      '), '\n      ')}`;
}
