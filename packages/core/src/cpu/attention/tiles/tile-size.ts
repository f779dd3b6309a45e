import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import { MXFP8_BLOCK } from '../../../mxfp8/block-scales.ts';
import { padded, STRIP } from '../../kernels/interface/panel.ts';

/** The queries and keys that are processed at once; `columns` is a multiple of `PANEL`. */
export interface TileSize {
  readonly rows: number;
  readonly columns: number;
}

/** Tiles `firstTile` ≤ t < `endTile`. */
export interface TileRange {
  readonly firstTile: number;
  readonly endTile: number;
}

/**
 * Large enough for the work per row of a tile to be small beside the products, and small enough for the
 * cache.
 */
const LARGEST: TileSize = { rows: 64, columns: 128 };

/**
 * The size rounded up to whole blocks of operands with block scales, so that tiles start at block boundaries.
 */
export function wholeBlocks({ rows, columns }: TileSize): TileSize {
  const up = (n: number): number => Math.ceil(n / MXFP8_BLOCK) * MXFP8_BLOCK;
  return { rows: up(rows), columns: up(columns) };
}

/** The elements of a tile of f32, whose rows the kernels write up to a multiple of `STRIP`. */
export const paddedElements = ({ rows, columns }: TileSize): number =>
  Math.ceil(rows / STRIP) * STRIP * columns;

/** The tile size for a problem. It affects results only by rounding. */
export function tileSizeOf({ Sq, Skv }: Pick<AttentionProblem, 'Sq' | 'Skv'>): TileSize {
  return {
    rows: Math.max(1, Math.min(LARGEST.rows, Sq)),
    columns: Math.max(padded(1), Math.min(LARGEST.columns, padded(Skv))),
  };
}
