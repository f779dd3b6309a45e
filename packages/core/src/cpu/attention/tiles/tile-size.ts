import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import { MXFP8_BLOCK } from '../../../mxfp8/block-scales.ts';
import { padded } from '../../kernels/interface/panel.ts';

/** Queries and keys that are worked on at once; `columns` is a multiple of `PANEL`. */
export interface TileSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Large enough for what is done once per row of a tile to be small beside the products, small enough for the
 * cache.
 */
const LARGEST: TileSize = { rows: 64, columns: 128 };

/** The next size in whole blocks of operands with block scales, so that tiles start where blocks do. */
export function wholeBlocks({ rows, columns }: TileSize): TileSize {
  const up = (n: number): number => Math.ceil(n / MXFP8_BLOCK) * MXFP8_BLOCK;
  return { rows: up(rows), columns: up(columns) };
}

/** The tile size for a problem. No result depends on it except by rounding. */
export function tileSizeOf({ Sq, Skv }: Pick<AttentionProblem, 'Sq' | 'Skv'>): TileSize {
  return {
    rows: Math.max(1, Math.min(LARGEST.rows, Sq)),
    columns: Math.max(padded(1), Math.min(LARGEST.columns, padded(Skv))),
  };
}
