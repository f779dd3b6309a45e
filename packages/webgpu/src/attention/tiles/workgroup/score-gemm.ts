import { repeat } from '../../../codegen/text.ts';
import type { ScoreGemm, ScoreGemms, TileOperand } from '../tile-backend.ts';
import { overChunks } from './chunks.ts';
import { colsOf, rowsOf, stagedAt, stagedPitch } from './memory.ts';
import type { Chunk, WorkgroupTile } from './workgroup-tile.ts';

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the
 * other: their text is most of a kernel, and compilers take much longer for twice as much.
 */
export function scores(tile: WorkgroupTile, gemms: ScoreGemms): string {
  const [first, second] = gemms;
  if (!second) return sumOfProducts(tile, gemms, first.into, first.a.channels);
  const { rows, cols } = tile;
  const copy = ({ into }: ScoreGemm): string =>
    repeat(rows * cols, b => `${into}${b} = sum${b};`, '\n      ');
  return `${gemms.map(({ into }) => repeat(rows * cols, b => `var ${into}${b} = vec4f();`, '\n    ')).join('\n    ')}
    for (var product = 0u; product < 2u; product++) {
    ${sumOfProducts(tile, gemms, 'sum', `select(${first.a.channels}, ${second.a.channels}, product == 1u)`)}
    if (product == 0u) {
      ${copy(first)}
    } else {
      ${copy(second)}
    }
    }`;
}

/**
 * Declares `sum0`, `sum1`, … and adds the products of one matrix up. The keys of a lane are neighbours, but
 * tx places apart in `staged`, so that lanes side by side read side by side.
 */
function sumOfProducts(
  tile: WorkgroupTile,
  gemms: readonly ScoreGemm[],
  sum: string,
  channels: string,
): string {
  const { tx, headDimChunk } = tile;
  const keys = 4 * tile.cols;
  const rows = rowsOf(tile);
  const side = (name: 'a' | 'b'): TileOperand[] => gemms.map(gemm => gemm[name]);
  const slot = `${rows}u + (r & ${keys - 1}u) * ${tx}u + (r >> ${Math.log2(keys)}u)`;
  return `// In chunks of the head dimension: rows of both operands in workgroup memory, then their products.
    let channels = ${channels};
    ${repeat(tile.rows * tile.cols, b => `var ${sum}${b} = vec4f();`, '\n    ')}
    ${overChunks(
      tile,
      { at: 'd0', end: 'channels', step: 4 * headDimChunk },
      [rowsChunk(tile, side('a'), rows, 'r'), rowsChunk(tile, side('b'), colsOf(tile), slot)],
      `let used = min(${headDimChunk}u, (channels - d0 + 3u) / 4u);
    ${fastOrPlain(tile.arithmetic?.scores(tile, sum), sums(tile, sum))}`,
      false,
    )}`;
}

/** Adds the products of a chunk to the sums, in numbers of f32 or all of f16. */
export function sums(tile: WorkgroupTile, sum: string, number: 'f32' | 'f16' = 'f32'): string {
  const { tx, rows, cols } = tile;
  const p = stagedPitch(tile);
  const value = (at: string): string => (number === 'f16' ? `staged[${at}]` : stagedAt(tile, at));
  return `for (var d = 0u; d < used; d++) {
      ${repeat(rows, r => `let a${r} = ${value(`(ty * ${rows}u + ${r}u) * ${p}u + d`)};`, '\n      ')}
      ${repeat(4 * cols, c => `let b${c} = ${value(`(${rowsOf(tile) + c * tx}u + tx) * ${p}u + d`)};`, '\n      ')}
      ${multiply(tile, sum, number)}
    }`;
}

/** Fast statements, if there are any, for chunks that hold nothing unfit for them. */
const fastOrPlain = (fast: string | undefined, plain: string): string =>
  fast
    ? `if (atomicLoad(&non_finite) == 0u) {
    ${fast}
    } else {
    ${plain}
    }`
    : plain;

/** `headDimChunk` vec4s of `count` rows; row r goes to place `slot`. */
function rowsChunk(
  tile: WorkgroupTile,
  operands: readonly TileOperand[],
  count: number,
  slot: string,
): Chunk {
  const { headDimChunk: depth } = tile;
  return {
    vectors: count * depth,
    given: `let r = n / ${depth}u;`,
    place: from => `let s = ${operands[0].first} + r;
      let d = ${from} + 4u * (n % ${depth}u);`,
    operands,
    channels: 'channels',
    look: tile.arithmetic?.look.scores,
    slot: `(${slot}) * ${stagedPitch(tile)}u + n % ${depth}u`,
  };
}

/**
 * Adds the products of four channels, of rows `a0`, … with keys `b0`, …, to the sums. Of 4 × 4 as scalar
 * products; of more, where multiplying is what takes the time, channel by channel: a multiplication and an
 * addition are then always one instruction.
 */
function multiply({ rows, cols }: WorkgroupTile, sum: string, number: 'f32' | 'f16'): string {
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
