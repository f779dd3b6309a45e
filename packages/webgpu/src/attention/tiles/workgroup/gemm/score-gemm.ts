import { repeat } from '../../../../codegen/text.ts';
import type { ScoreGemm, ScoreGemms, TileOperand } from '../../interface/tile-gemms.ts';
import { tileSize } from '../../tile.ts';
import { stagedAt } from '../memory.ts';
import type { Chunk, WorkgroupTile } from '../workgroup-tile.ts';
import { overChunks } from './chunks.ts';

/**
 * Computes one or two matrices of products over the whole head size. Two matrices go through the same loop,
 * one after the other: this text is most of a kernel, and compilers would take much longer for twice as much.
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
 * Declares `sum0`, `sum1`, … and adds the products of one matrix to them. Adjacent lanes read adjacent vec4s
 * of `staged`.
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
  return `// Stage and multiply chunks of channels.
    let channels = ${channels};
    ${repeat(tile.rows * tile.cols, b => `var ${sum}${b} = vec4f();`)}
    ${overChunks(
      tile,
      { at: 'd0', end: 'channels', step: 4 * headDimChunk },
      [rowsChunk(tile, side('a'), rows, 0), rowsChunk(tile, side('b'), cols, tile.rows)],
      `${tile.wholeChunks?.(gemms, headDimChunk) ?? `let used = min(${headDimChunk}u, (channels - d0 + 3u) / 4u);`}
    ${
      tile.arithmetic
        ? `if (atomicLoad(&non_finite) == 0u) {
    ${tile.arithmetic.scores(tile, sum)}
    } else {
    ${sums(tile, sum)}
    }`
        : sums(tile, sum)
    }`,
      false,
    )}`;
}

/** Adds the products of a chunk to the sums, computing in f32 or entirely in f16. */
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

/**
 * A chunk of the rows of all lanes, `headDimChunk` vec4s of each row. The rows of one lane are adjacent; its
 * first row is row `first` in `staged`.
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
    declare: from => `let s = ${operands[0].first} + r;
      let d = ${from} + 4u * (n % ${depth}u);`,
    operands,
    channels: 'channels',
    search: tile.arithmetic?.search.scores,
    slot: `[${first * depth}u + n % ${own}u][n / ${own}u]`,
  };
}

/**
 * Adds the products of four channels of rows `a0`, … with keys `b0`, … to the sums. With 4 × 4 scores in f32,
 * these are dot products. With more scores, where multiplication takes most of the time, and in f16, products
 * are computed channel by channel, so that each multiplication and addition is one instruction.
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
