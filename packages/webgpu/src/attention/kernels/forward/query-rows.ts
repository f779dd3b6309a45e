import type { AttentionProblem } from '@tilewise/core';
import { type UniformField, u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';
import type { TileOperand } from '../../tiles/tile-backend.ts';

/**
 * The rows of a tile. With one head, they are queries of head `h`. With more heads, they are the queries of
 * all heads from `h` on that share a key head and a value head, with the heads of one query next to each
 * other: few queries then fill a tile, and k and v are read only once for all these heads.
 */
export interface QueryRows {
  /** The number of query heads with rows in the tile. */
  readonly heads: number;
  readonly uniforms: readonly UniformField[];
  /** Statements that declare the queries `i0` to `i1` (exclusive) of the tile that starts at row `row0`. */
  readonly span: string;
  /** Statements that declare the `head` and the `query` of this lane's row `r`, a WGSL expression. */
  place(r: string): string;
  /** The rows of a tensor with a row per query and head, such as q and o. */
  operand(operand: TileOperand): TileOperand;
}

/**
 * Statements that declare the arrays `m_rows`, of the maxima `m0`, …, and `l_rows`, of the sums `sum0`, ….
 */
export const rowSums = (rows: number): string =>
  `let m_rows = array(${repeat(rows, r => `m${r}`, ', ')});
  let l_rows = array(${repeat(rows, r => `sum${r}`, ', ')});`;

/** The number of query heads that share both a key head and a value head. */
export function sharingHeads({ Hq, Hk, Hv }: AttentionProblem): number {
  return greatestCommonDivisor(Hq / Hk, Hq / Hv);
}

/** Terminates for all numbers: a problem with Hk = 0 divides by 0 here, before `validate` refuses it. */
function greatestCommonDivisor(a: number, b: number): number {
  return b > 0 ? greatestCommonDivisor(b, a % b) : a;
}

export function queryRows(heads: number, tile: Tile): QueryRows {
  const { rows } = tileSize(tile.grid);
  const own = tile.grid.rows;
  const isOne = heads === 1;
  const head = (row: string): string => (isOne ? 'h' : `h + (${row}) % P.row_heads`);
  const query = (row: string): string => (isOne ? row : `(${row}) / P.row_heads`);
  return {
    heads,
    uniforms: isOne ? [] : u32Uniforms({ row_heads: heads }),
    span: isOne
      ? `let i0 = row0;\n  let i1 = row0 + ${rows}u;`
      : `let i0 = row0 / P.row_heads;\n  let i1 = (row0 + ${rows - 1}u) / P.row_heads + 1u;`,
    place(r) {
      const row = `row0 + ty * ${own}u + ${r}`;
      return `let head = ${head(row)};
    let query = ${query(row)};`;
    },
    operand: operand =>
      isOne
        ? operand
        : {
            ...operand,
            first: 'row0',
            end: `${operand.end} * P.row_heads`,
            row: s => `${operand.name}_row(seq, ${head(s)}, ${query(s)})`,
          },
  };
}
