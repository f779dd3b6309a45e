import { STRIP } from '../vector/vector';

/**
 * Ranges are two i32 for each row of a tile: the keys lo ≤ j < hi of its sequence that the row may see; an
 * empty range has lo ≥ hi. A tile starts at key j0, and columns count from there.
 */

/** The first column, in a tile of n, that row i may see; n if it sees none. */
@inline export function rangeStart(ranges: usize, i: i32, j0: i32, n: i32): i32 {
  return min(max(load<i32>(ranges + <usize>i * 8) - j0, 0), n);
}

/** The column after the last one that row i may see. */
@inline export function rangeEnd(ranges: usize, i: i32, j0: i32, n: i32): i32 {
  return min(max(load<i32>(ranges + <usize>i * 8, 4) - j0, 0), n);
}

/** The first column that any row of the strip at i may see, of m rows in total. */
export function stripStart(ranges: usize, i: i32, m: i32, j0: i32, n: i32): i32 {
  let first = n;
  for (let r = i; r < min(i + STRIP, m); r++) {
    const from = rangeStart(ranges, r, j0, n);
    if (from < rangeEnd(ranges, r, j0, n)) first = min(first, from);
  }
  return first;
}

/** The column after the last one that any row of the strip at i may see. */
export function stripEnd(ranges: usize, i: i32, m: i32, j0: i32, n: i32): i32 {
  let end = 0;
  for (let r = i; r < min(i + STRIP, m); r++) {
    const to = rangeEnd(ranges, r, j0, n);
    if (rangeStart(ranges, r, j0, n) < to) end = max(end, to);
  }
  return end;
}

@inline function seesStrip(ranges: usize, i: i32, j: i32): bool {
  const lo = load<i32>(ranges + <usize>i * 8);
  const hi = load<i32>(ranges + <usize>i * 8, 4);
  return lo < hi && lo < j + STRIP && hi > j;
}

/** The first of m rows that may see any of the keys j to j + 3. */
export function stripRowsStart(ranges: usize, m: i32, j: i32): i32 {
  let i = 0;
  while (i < m && !seesStrip(ranges, i, j)) i++;
  return i;
}

/** The row after the last one that may see any of the keys j to j + 3. */
export function stripRowsEnd(ranges: usize, m: i32, j: i32): i32 {
  let i = m;
  while (i > 0 && !seesStrip(ranges, i - 1, j)) i--;
  return i;
}
