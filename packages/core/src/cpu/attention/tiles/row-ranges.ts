import type { KeyRanges } from '../../../attention/host/key-ranges.ts';
import type { Memory } from '../../kernels/memory/memory.ts';

/** Whether no pair, some pairs or all pairs of a tile of the score matrix are seen. */
export type Seen = 'none' | 'some' | 'all';

/**
 * The keys that each row of a query tile may see by lengths and diagonal band: row i sees lo(i) ≤ j < hi(i).
 */
export interface RowRanges {
  /** The address of the ranges, two i32 per row, as kernels take them. */
  readonly at: number;
  lo(i: number): number;
  hi(i: number): number;
  /** Selects `count` rows from row i0 of sequence b on. */
  select(b: number, i0: number, count: number): void;
  /** All keys that any row may see are in first ≤ j < end. */
  first(): number;
  end(): number;
  /** Whether the rows together see the keys j0 ≤ j < j1. */
  seen(j0: number, j1: number): Seen;
}

/** Ranges for query tiles of at most `rows` rows. */
export function createRowRanges(
  { keyRanges }: Pick<KeyRanges, 'keyRanges'>,
  memory: Memory,
  rows: number,
): RowRanges {
  const ranges = memory.allocate(Int32Array, 2 * rows);
  let first = 0;
  let end = 0;
  let sharedFirst = 0;
  let sharedEnd = 0;
  return {
    at: ranges.at,
    lo: i => ranges.values[2 * i],
    hi: i => ranges.values[2 * i + 1],
    select(b, i0, count) {
      const { values } = ranges;
      keyRanges(b, i0, count, values);
      first = Infinity;
      end = 0;
      sharedFirst = 0;
      sharedEnd = Infinity;
      for (let i = 0; i < count; i++) {
        const from = values[2 * i];
        const to = values[2 * i + 1];
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
