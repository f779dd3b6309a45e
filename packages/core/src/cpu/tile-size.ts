import type { AttentionProblem } from '../attention/problem.ts';
import { MXFP8_BLOCK } from '../mxfp8/block-scales.ts';
import { padded } from './kernels.ts';

/** Queries and keys that are worked on at once; `columns` is a multiple of 4. */
export interface TileSize {
  readonly rows: number;
  readonly columns: number;
}

/** Large enough for unpacking and softmax bookkeeping to be small beside the products, small enough for the cache. */
const LARGEST = 64;

/** The next size in whole blocks of operands with block scales, so that tiles start where blocks do. */
export function wholeBlocks({ rows, columns }: TileSize): TileSize {
  const up = (n: number): number => Math.ceil(n / MXFP8_BLOCK) * MXFP8_BLOCK;
  return { rows: up(rows), columns: up(columns) };
}

/** The tile size for a problem. No result depends on it except by rounding. */
export function tileSizeOf({ Sq, Skv }: Pick<AttentionProblem, 'Sq' | 'Skv'>): TileSize {
  return {
    rows: Math.max(1, Math.min(LARGEST, Sq)),
    columns: Math.max(4, Math.min(LARGEST, padded(Skv))),
  };
}
