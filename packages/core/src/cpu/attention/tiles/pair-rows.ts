import type { PairRow } from '../../../expr/evaluate/rows.ts';
import type { RowRanges } from './row-ranges.ts';
import type { ScoreTile } from './score-tile.ts';

/** The rows of a tile, for evaluating the expression of a mod. */
export interface PairRows {
  /**
   * Calls `visit` for each row of a tile of the selected rows, with those pairs that lengths and band show,
   * and with their scores, which are `ld` elements apart from one row to the next. The row is reused; `at` is
   * its first element.
   */
  visit(tile: ScoreTile, scores: ArrayLike<number>, ld: number, visit: (row: PairRow) => void): void;
}

/** The rows of tiles within the ranges of the selected rows. */
export function createPairRows(ranges: RowRanges): PairRows {
  const row = { b: 0, h: 0, q: 0, kv: 0, count: 0, at: 0, scores: [] as ArrayLike<number> };
  return {
    visit({ b, h, i0, rows, j0, columns }, scores, ld, visit) {
      Object.assign(row, { b, h, scores });
      for (let i = 0; i < rows; i++) {
        row.kv = Math.max(ranges.lo(i), j0);
        row.count = Math.min(ranges.hi(i), j0 + columns) - row.kv;
        if (row.count <= 0) continue;
        row.q = i0 + i;
        row.at = i * ld + row.kv - j0;
        visit(row);
      }
    },
  };
}
