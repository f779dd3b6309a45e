import type { AttentionProblem } from '@tilewise/core';
import { type UniformField, wholeUniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { RowPlaces } from '../../config/kernel-config.ts';
import { type Tile, tileRows } from '../../tiles/tile.ts';
import type { TileOperand } from '../../tiles/tile-backend.ts';

/**
 * The rows of a tile. With one head they are queries of head `h`. With more, they are the queries of all the
 * heads from `h` on that share a key head and a value head, the heads of one query next to each other: few
 * queries then fill a tile, and k and v are read once for all of these heads.
 */
export interface QueryRows extends RowPlaces {
  /** Query heads that a tile has rows of. */
  readonly heads: number;
  readonly uniforms: readonly UniformField[];
  /** Statements that declare, of the tile of rows from `row0` on, its queries `i0` to `i1` (exclusive). */
  readonly span: string;
  /** Statements that declare `head0`, … and `query0`, …: what this lane's rows are. */
  readonly places: string;
  /** The rows of a tensor with a row per query and head, such as q and o. */
  operand(operand: TileOperand): TileOperand;
}

/** Heads that share both a key head and a value head. */
export function sharingHeads({ Hq, Hk, Hv }: AttentionProblem): number {
  return greatestCommonDivisor(Hq / Hk, Hq / Hv);
}

/** Ends for any numbers: a problem with Hk = 0, which only `validate` refuses, divides by 0. */
function greatestCommonDivisor(a: number, b: number): number {
  return b > 0 ? greatestCommonDivisor(b, a % b) : a;
}

export function queryRows(heads: number, tile: Tile): QueryRows {
  const rows = tileRows(tile);
  const own = tile.grid.rows;
  const placed = (
    head: (row: string) => string,
    query: (row: string) => string,
  ): Pick<QueryRows, 'places' | 'place'> => {
    const place = (r: string, suffix = ''): string => {
      const row = `(row0 + ty * ${own}u + ${r})`;
      return `let head${suffix} = ${head(row)};
  let query${suffix} = ${query(row)};`;
    };
    return { places: repeat(own, r => place(`${r}u`, `${r}`)), place: place('r') };
  };
  if (heads === 1) {
    return {
      heads,
      uniforms: [],
      span: `let i0 = row0;\n  let i1 = row0 + ${rows}u;`,
      ...placed(
        () => 'h',
        row => row.slice(1, -1),
      ),
      count: queries => queries,
      operand: operand => operand,
    };
  }
  const head = (row: string): string => `h + ${row} % P.row_heads`;
  const query = (row: string): string => `${row} / P.row_heads`;
  const count = (queries: string): string => `${queries} * P.row_heads`;
  return {
    heads,
    uniforms: wholeUniforms({ row_heads: heads }),
    span: `let i0 = row0 / P.row_heads;\n  let i1 = (row0 + ${rows - 1}u) / P.row_heads + 1u;`,
    ...placed(head, query),
    count,
    operand: operand => ({
      ...operand,
      first: 'row0',
      end: count(operand.end),
      row: s => `${operand.name}_row(seq, ${head(s)}, ${query(s)})`,
    }),
  };
}
