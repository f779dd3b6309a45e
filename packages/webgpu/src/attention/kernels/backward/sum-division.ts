import { type BackwardProblem, contiguousStrides, elementCount } from '@tilewise/core';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';

/** How sums over scores, which give a tensor that broadcasts to the scores, are divided among workgroups. */
export interface SumDivision {
  /**
   * For each of (B, Hq, Sq, Skv), whether the result keeps the dimension. A dimension in which the result has
   * one element is summed over.
   */
  readonly kept: readonly boolean[];
  /** The number of tiles of the result along each dimension. */
  readonly tiles: readonly [B: number, H: number, I: number, J: number];
  /** The number of sequences, heads and tiles of queries that are summed into one tile of the result. */
  readonly steps: readonly [B: number, H: number, I: number];
  /** The size of a tile of the result, in elements. */
  readonly rows: number;
  readonly cols: number;
  /**
   * The number of workgroups that share the steps of a tile. If there is more than one, a second kernel adds
   * their partial sums.
   */
  readonly chunks: number;
}

/**
 * The number of workgroups that keeps a large GPU busy, and the smallest number of steps that one of them
 * should have.
 */
const manyGroups = 256;
const stepsPerGroup = 4;
/** The maximum memory for partial sums, in vectors of 8 bytes. */
const maxVectors = 2 ** 22;

/** The smallest number of keys of a tile of the result, if scores are computed on a subgroup tile. */
const minSubgroupKeys = 32;

/**
 * The number of keys of a tile of the result. A workgroup on a subgroup tile loads its queries from storage
 * once for all of these keys, which are those of several tiles of scores.
 */
function keysOfResult({ grid, shape: { kind } }: Tile): number {
  const { cols } = tileSize(grid);
  return kind === 'subgroup' ? cols * Math.ceil(minSubgroupKeys / cols) : cols;
}

/** The bytes of workgroup memory for the sums of a workgroup. */
export const sumBytes = (tile: Tile): number => 4 * tileSize(tile.grid).rows * keysOfResult(tile);

/** @param shape the shape of the result. */
export function sumDivision(
  { forward: { B, Hq, Sq, Skv } }: BackwardProblem,
  tile: Tile,
  shape: readonly number[],
): SumDivision {
  const lead = 4 - shape.length;
  const kept = [0, 1, 2, 3].map(d => (shape[d - lead] ?? 1) > 1);
  const [keepB, keepH, keepI, keepJ] = kept;
  const [queries, keys] = [tileSize(tile.grid).rows, keysOfResult(tile)];
  const [tilesI, tilesJ] = [Math.ceil(Sq / queries), Math.ceil(Skv / keys)];
  const tiles = [keepB ? B : 1, keepH ? Hq : 1, keepI ? tilesI : 1, keepJ ? tilesJ : 1] as const;
  const steps = [keepB ? 1 : B, keepH ? 1 : Hq, keepI ? 1 : tilesI] as const;
  const rows = keepI ? queries : 1;
  const cols = keepJ ? keys : 1;
  const groups = elementCount(tiles);
  const room = maxVectors / (groups * rows * cols);
  const chunks = Math.floor(Math.min(elementCount(steps) / stepsPerGroup, manyGroups / groups, room)) || 1;
  return { kept, tiles, steps, rows, cols, chunks };
}

/** The number of vectors that the partial sums of a division use in the workspace. */
export function partialSumVectors({ tiles, rows, cols, chunks }: SumDivision): number {
  return chunks > 1 ? elementCount(tiles) * chunks * rows * cols : 0;
}

/**
 * `tile_at(number) -> vec4u`: the coordinates of a tile of the result `name`, which has this shape.
 */
export function tileCoordinates(
  name: string,
  { kept, tiles }: SumDivision,
  shape: readonly number[],
): ShaderPart {
  const own = contiguousStrides(shape);
  const lead = 4 - shape.length;
  const [sb, sh, si, sj] = kept.map((isKept, d) => (isKept ? (own[d - lead] ?? 0) : 0));
  const [, tiles_h, tiles_i, tiles_j] = tiles;
  return {
    uniforms: u32Uniforms({ tiles_h, tiles_i, tiles_j, sb, sh, si, sj }, `${name}_`),
    code: `// Batch entry, head, and tile of queries and of keys: 0 for those that are summed over.
fn tile_at(number: u32) -> vec4u {
  let b = number / (P.${name}_tiles_j * P.${name}_tiles_i * P.${name}_tiles_h);
  let h = (number / (P.${name}_tiles_j * P.${name}_tiles_i)) % P.${name}_tiles_h;
  return vec4u(b, h, (number / P.${name}_tiles_j) % P.${name}_tiles_i, number % P.${name}_tiles_j);
}`,
  };
}

/**
 * Statements that store `sum` as the element in row `row` and column `col` of the tile at the coordinates
 * `tile`, if the element exists. The only element along a dimension that is summed over exists in any case.
 */
export function storeElement(name: string, { rows, cols }: SumDivision): string {
  return `let i = tile.z * ${rows}u + row;
    let j = tile.w * ${cols}u + col;
    if (i < max(P.Sq, 1u) && j < max(P.Skv, 1u)) {
      ${name}_store(tile.x * P.${name}_sb + tile.y * P.${name}_sh + i * P.${name}_si + j * P.${name}_sj, sum);
    }`;
}
