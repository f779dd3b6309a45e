import type { QueryTile } from '../../operands/query-tile.ts';

/**
 * A tile of the score matrix: the rows of a query tile, and `columns` keys from j0 on. `index` counts the
 * tiles of keys.
 */
export interface ScoreTile extends QueryTile {
  readonly index: number;
  readonly j0: number;
  readonly columns: number;
}

/** The tile before any is selected. */
export const NO_TILE: ScoreTile = { b: 0, h: 0, i0: 0, rows: 0, index: 0, j0: 0, columns: 0 };
