import { laneGrid, repeat, tileCols, tileRows, type WorkgroupTile } from './tile.ts';
import type { Product, TileOperand } from './tile-work.ts';
import { type Chunk, overChunks } from './workgroup-chunks.ts';
import { pooled, poolPitch } from './workgroup-layout.ts';

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the other: their text
 * is most of a kernel, and compilers take much longer for twice as much.
 */
export function products(tile: WorkgroupTile, all: readonly [Product] | readonly [Product, Product]): string {
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
  const p = poolPitch(tile);
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
    for (var d = 0u; d < used; d++) {
      ${repeat(grid.rows, r => `let a${r} = ${pooled(tile, `(ty * ${grid.rows}u + ${r}u) * ${p}u + d`)};`, '\n      ')}
      ${repeat(keys, c => `let b${c} = ${pooled(tile, `(${rows + c * tx}u + tx) * ${p}u + d`)};`, '\n      ')}
      ${multiply(tile, sum)}
    }`,
    )}`;
}

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
    slot: `(${slot}) * ${poolPitch(tile)}u + n % ${depth}u`,
  };
}

/**
 * Adds the products of four channels, of rows `a0`, … with keys `b0`, …, to the sums. Of 4 × 4 as scalar products; of more, where
 * multiplying is what takes the time, channel by channel: a multiplication and an addition are then always one instruction.
 */
function multiply(tile: WorkgroupTile, sum: string): string {
  const { rows, cols } = laneGrid(tile);
  const keys = (c: number): string => repeat(4, n => `b${4 * c + n}`, ', ');
  if (rows * cols === 4)
    return repeat(
      rows,
      r => `${sum}${r} += vec4f(${repeat(4, c => `dot(a${r}, b${c})`, ', ')});`,
      '\n      ',
    );
  return `${repeat(cols, c => `let keys${c} = transpose(mat4x4f(${keys(c)}));`, '\n      ')}
      ${repeat(
        4,
        e =>
          repeat(
            rows * cols,
            b =>
              `${sum}${b} = fma(vec4f(a${Math.floor(b / cols)}[${e}]), keys${b % cols}[${e}], ${sum}${b});`,
            '\n      ',
          ),
        '\n      ',
      )}`;
}
