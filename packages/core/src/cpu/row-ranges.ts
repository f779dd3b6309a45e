import type { Visibility } from '../attention/visibility.ts';

/** How much of a tile of the score matrix is seen. */
export type Seen = 'none' | 'some' | 'all';

/** The keys that each row of a query tile may see by lengths and diagonal band: row i sees lo[i] ≤ j < hi[i]. */
export interface RowRanges {
  readonly lo: Int32Array;
  readonly hi: Int32Array;
  /** Turns to `count` rows from row i0 of sequence b. */
  select(b: number, i0: number, count: number): void;
  /** All keys that any row may see lie in first ≤ j < end. */
  first(): number;
  end(): number;
  /** Keys j0 ≤ j < j1 as seen by the rows together. */
  seen(j0: number, j1: number): Seen;
}

/** Ranges for query tiles of at most `rows` rows. */
export function createRowRanges({ keyRange }: Pick<Visibility, 'keyRange'>, rows: number): RowRanges {
  const lo = new Int32Array(rows);
  const hi = new Int32Array(rows);
  let first = 0;
  let end = 0;
  let sharedFirst = 0;
  let sharedEnd = 0;
  return {
    lo,
    hi,
    select(b, i0, count) {
      first = Infinity;
      end = 0;
      sharedFirst = 0;
      sharedEnd = Infinity;
      for (let i = 0; i < count; i++) {
        const [from, to] = keyRange(b, i0 + i);
        lo[i] = from;
        hi[i] = to;
        if (from < to) first = Math.min(first, from);
        end = Math.max(end, to);
        sharedFirst = Math.max(sharedFirst, from);
        sharedEnd = Math.min(sharedEnd, to);
      }
    },
    first: () => Math.min(first, end),
    end: () => end,
    seen(j0, j1) {
      if (j1 <= first || j0 >= end) return 'none';
      return sharedFirst <= j0 && j1 <= sharedEnd ? 'all' : 'some';
    },
  };
}
