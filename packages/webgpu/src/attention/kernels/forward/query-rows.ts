import type { AttentionProblem } from '@tilewise/core';
import type { KernelGrid } from '../../../codegen/kernel-spec.ts';
import { type UniformField, u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { TileOperand } from '../../tiles/interface/tile-gemms.ts';
import { tileSize } from '../../tiles/tile.ts';
import { keyHeads } from '../../tiles/tile-operands.ts';
import type { WorkgroupReads } from '../workgroup-reads.ts';
import type { ForwardShape } from './forward-shape.ts';

/**
 * The tiles of queries of a forward pass, and the rows of a tile. With one head, the rows are queries of head
 * `h`. With more heads, they are the queries of all heads from `h` on that share a key head and a value head,
 * with the heads of one query next to each other: few queries then fill a tile, and k and v are read only
 * once for all these heads.
 */
export interface QueryRows {
  /** One workgroup for each part of the keys of each tile. */
  readonly grid: KernelGrid;
  readonly uniforms: readonly UniformField[];
  /**
   * Statements that declare the `part` of a workgroup, if there is more than one, and its tile: the sequence
   * `seq`, the heads `h`, `h_k` and `h_v`, and the queries `i0` to `i1` (exclusive), from row `row0` on.
   */
  readonly declare: string;
  /** Statements that declare the `head` and the `query` of this lane's row `r`, a WGSL expression. */
  declareRow(r: string): string;
  /** The rows of a tensor with a row per query and head, such as q and o. */
  operand(operand: TileOperand): TileOperand;
}

/**
 * Statements that declare the arrays `m_rows`, of the maxima `m0`, …, and `l_rows`, of the sums `sum0`, ….
 */
export const rowSums = (rows: number): string =>
  `let m_rows = array(${repeat(rows, r => `m${r}`, ', ')});
  let l_rows = array(${repeat(rows, r => `sum${r}`, ', ')});`;

export function queryRows(
  { B, Hq, Sq }: AttentionProblem,
  { tile, heads, parts }: ForwardShape,
  { sequence }: WorkgroupReads,
): QueryRows {
  const { rows } = tileSize(tile.grid);
  const tiles = Math.ceil((Sq * heads) / rows);
  const head_groups = Hq / heads;
  const isOne = heads === 1;
  const head = (row: string): string => (isOne ? 'h' : `h + (${row}) % P.row_heads`);
  const query = (row: string): string => (isOne ? row : `(${row}) / P.row_heads`);
  return {
    // The last tiles come first: under a causal mask, they see the most keys.
    grid: {
      ...{ batches: B, heads: head_groups, tiles, workgroups: parts },
      ...{ side: 'q', rows: rows / heads, reversed: true },
    },
    uniforms: u32Uniforms({ tiles, head_groups, ...(!isOne && { row_heads: heads }) }),
    declare: `// One tile of queries
  ${parts > 1 ? 'let part = group % P.parts;' : ''}
  let n = ${parts > 1 ? 'group / P.parts' : 'group'};
  let tile = P.tiles - 1u - n % P.tiles;
  let h = (n / P.tiles) % P.head_groups${isOne ? '' : ' * P.row_heads'};
  ${keyHeads}
  ${sequence('n / (P.tiles * P.head_groups)')}
  let row0 = tile * ${rows}u;
  ${
    isOne
      ? `let i0 = row0;\n  let i1 = row0 + ${rows}u;`
      : `let i0 = row0 / P.row_heads;\n  let i1 = (row0 + ${rows - 1}u) / P.row_heads + 1u;`
  }`,
    declareRow(r) {
      const row = `row0 + ty * ${tile.grid.rows}u + ${r}`;
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
