import { repeat } from '../../../../codegen/text.ts';
import { tileSize } from '../../tile.ts';
import type { ScoreGemm, ScoreGemms, TileOperand } from '../../tile-backend.ts';
import { stagedAt } from '../memory.ts';
import type { Chunk, WorkgroupTile } from '../workgroup-tile.ts';
import { overChunks } from './chunks.ts';

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the
 * other: their text is most of a kernel, and compilers take much longer for twice as much.
 */
export function scores(tile: WorkgroupTile, gemms: ScoreGemms): string {
  const [first, second] = gemms;
  if (!second) return sumOfProducts(tile, gemms, first.into, first.a.channels);
  const { rows, cols } = tile;
  const copy = ({ into }: ScoreGemm): string => repeat(rows * cols, b => `${into}${b} = sum${b};`);
  return `${gemms.map(({ into }) => repeat(rows * cols, b => `var ${into}${b} = vec4f();`)).join('\n')}
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
 * Declares `sum0`, `sum1`, … and adds the products of one matrix up. In `staged` lanes side by side read side
 * by side.
 */
function sumOfProducts(
  tile: WorkgroupTile,
  gemms: readonly ScoreGemm[],
  sum: string,
  channels: string,
): string {
  const { headDimChunk } = tile;
  const { rows, cols } = tileSize(tile);
  const side = (name: 'a' | 'b'): TileOperand[] => gemms.map(gemm => gemm[name]);
  return `// For each chunk of the head dimension: stage rows of both operands, then multiply them.
    let channels = ${channels};
    ${repeat(tile.rows * tile.cols, b => `var ${sum}${b} = vec4f();`)}
    ${overChunks(
      tile,
      { at: 'd0', end: 'channels', step: 4 * headDimChunk },
      [rowsChunk(tile, side('a'), rows, 0), rowsChunk(tile, side('b'), cols, tile.rows)],
      `let used = min(${headDimChunk}u, (channels - d0 + 3u) / 4u);
    ${fastOrPlain(tile.arithmetic?.scores(tile, sum), sums(tile, sum))}`,
      false,
    )}`;
}

/** Adds the products of a chunk to the sums, in numbers of f32 or all of f16. */
export function sums(tile: WorkgroupTile, sum: string, number: 'f32' | 'f16' = 'f32'): string {
  const { rows, cols, headDimChunk } = tile;
  const value = (n: number, lane: string): string => {
    const at = `[${n * headDimChunk}u + d][${lane}]`;
    return number === 'f16' ? `staged${at}` : stagedAt(tile, at);
  };
  return `for (var d = 0u; d < used; d++) {
      ${repeat(rows, r => `let a${r} = ${value(r, 'ty')};`)}
      ${repeat(4 * cols, c => `let b${c} = ${value(rows + c, 'tx')};`)}
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

/**
 * `headDimChunk` vec4s of the rows of all lanes. Rows of one lane are neighbours; the first is its row
 * `first` in `staged`.
 */
function rowsChunk(
  tile: WorkgroupTile,
  operands: readonly TileOperand[],
  count: number,
  first: number,
): Chunk {
  const { headDimChunk: depth } = tile;
  const own = depth * (first ? 4 * tile.cols : tile.rows);
  return {
    vectors: count * depth,
    given: `let r = n / ${depth}u;`,
    place: from => `let s = ${operands[0].first} + r;
      let d = ${from} + 4u * (n % ${depth}u);`,
    operands,
    channels: 'channels',
    look: tile.arithmetic?.look.scores,
    slot: `[${first * depth}u + n % ${own}u][n / ${own}u]`,
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
    return repeat(rows, r => `${sum}${r} += vec4f(${repeat(4, c => `dot(a${r}, b${c})`, ', ')});`);
  const one = (e: number, b: number): string => {
    const factor = `vec4<${number}>(a${Math.floor(b / cols)}[${e}])`;
    return `${sum}${b} = fma(${factor}, keys${b % cols}[${e}], ${sum}${b});`;
  };
  return `${repeat(cols, c => `let keys${c} = transpose(mat4x4<${number}>(${keys(c)}));`)}
      ${repeat(4, e => repeat(rows * cols, b => one(e, b)))}`;
}
