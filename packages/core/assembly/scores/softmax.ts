import { exponential, exponentials } from '../vector/exponential';
import { rangeEnd, rangeStart } from './ranges';
import { largestLane, sumOfLanes } from '../vector/vector';

const HIDDEN: f32 = -Infinity;

/**
 * Adds a tile of scores (m × n, row-major) to a running softmax, and replaces each score s by its weight e^(s
 * − m).
 *
 * For each row, `largest` (f32) has the largest score so far, −∞ at first, and `sum` (f64) has l = Σ e^(s −
 * m). If m grows, the row of `o` (`width` f32), which weights earlier tiles by the old m, is rescaled to the
 * new one. Scores outside a row's range, and scores of −∞, have weight 0; rows are written up to `ld`.
 *
 * All rows get their m before the first gets its weights, because only a row's weights have to wait for its
 * m.
 */
export function updateSoftmax(
  m: i32,
  n: i32,
  scores: usize,
  ld: usize,
  largest: usize,
  sum: usize,
  o: usize,
  ldo: usize,
  width: i32,
  ranges: usize,
  j0: i32,
): void {
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    const from = ranges ? rangeStart(ranges, i, j0, n) : 0;
    const to = max(from, ranges ? rangeEnd(ranges, i, j0, n) : n);
    hideEnds(row, from, to);
    const before = load<f32>(largest + <usize>i * 4);
    const after = largestScore(rangeAddress(row, from), rangeAddress(row, to + 7), before);
    if (!(after > before)) continue;
    store<f32>(largest + <usize>i * 4, after);
    // A row that has seen nothing has only zeros.
    if (before == HIDDEN) continue;
    const shrink = exponential(f32x4.splat(before - after));
    const l = load<f64>(sum + <usize>i * 8);
    store<f64>(sum + <usize>i * 8, l * <f64>f32x4.extract_lane(shrink, 0));
    const oi = o + <usize>i * ldo;
    for (let at = oi; at < oi + <usize>width * 4; at += 16) {
      v128.store(at, f32x4.mul(v128.load(at), shrink));
    }
  }
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    const from = ranges ? rangeStart(ranges, i, j0, n) : 0;
    const to = max(from, ranges ? rangeEnd(ranges, i, j0, n) : n);
    const first = rangeAddress(row, from);
    const end = rangeAddress(row, to + 7);
    const reached = load<f32>(largest + <usize>i * 4);
    const total = reached == HIDDEN ? weighHiddenRow(first, end) : exponentials(first, end, reached, false);
    store<f64>(sum + <usize>i * 8, load<f64>(sum + <usize>i * 8) + total);
    clear(row, first);
    clear(end, row + ld);
  }
}

/** The address of the group of 8 columns of a row that contains column j. */
@inline function rangeAddress(row: usize, j: i32): usize {
  return row + <usize>(j & ~7) * 4;
}

/**
 * Computes the weights of a row whose scores are all −∞ or NaN: the former become 0, NaN stays. Returns their
 * sum.
 */
function weighHiddenRow(first: usize, end: usize): f64 {
  const hidden = f32x4.splat(HIDDEN);
  let weights = f32x4.splat(0);
  for (let at = first; at < end; at += 16) {
    const score = v128.load(at);
    const weight = v128.andnot(score, f32x4.eq(score, hidden));
    v128.store(at, weight);
    weights = f32x4.add(weights, weight);
  }
  return sumOfLanes(weights);
}

/** The largest of `before` and a run of scores, whose number is a multiple of 8. */
@inline function largestScore(first: usize, end: usize, before: f32): f32 {
  // Uses four maxima, because one would make a chain of dependent steps.
  let a = f32x4.splat(before);
  let b = a;
  let c = a;
  let d = a;
  let at = first;
  for (; at + 32 < end; at += 64) {
    a = f32x4.pmax(a, v128.load(at));
    b = f32x4.pmax(b, v128.load(at, 16));
    c = f32x4.pmax(c, v128.load(at, 32));
    d = f32x4.pmax(d, v128.load(at, 48));
  }
  if (at < end) {
    a = f32x4.pmax(a, v128.load(at));
    b = f32x4.pmax(b, v128.load(at, 16));
  }
  return largestLane(f32x4.pmax(f32x4.pmax(a, b), f32x4.pmax(c, d)));
}

/** Sets the columns beside a range, up to the next multiple of 8, to −∞. */
@inline function hideEnds(row: usize, from: i32, to: i32): void {
  const hidden = f32x4.splat(HIDDEN);
  if (from & 7) {
    const at = row + <usize>(from & ~7) * 4;
    const start = i32x4.splat(from & 7);
    v128.store(at, v128.bitselect(hidden, v128.load(at), i32x4.lt_s(i32x4(0, 1, 2, 3), start)));
    v128.store(at, v128.bitselect(hidden, v128.load(at, 16), i32x4.lt_s(i32x4(4, 5, 6, 7), start)), 16);
  }
  if (to & 7) {
    const at = row + <usize>(to & ~7) * 4;
    const end = i32x4.splat(to & 7);
    v128.store(at, v128.bitselect(hidden, v128.load(at), i32x4.ge_s(i32x4(0, 1, 2, 3), end)));
    v128.store(at, v128.bitselect(hidden, v128.load(at, 16), i32x4.ge_s(i32x4(4, 5, 6, 7), end)), 16);
  }
}

@inline function clear(from: usize, to: usize): void {
  for (let at = from; at < to; at += 16) v128.store(at, f32x4.splat(0));
}

/**
 * Replaces a tile of scores by p = e^(s − lse), with an f32 `lse` per row; 0 if lse or the score is −∞, and
 * outside the range.
 */
export function toProbabilities(
  m: i32,
  n: i32,
  scores: usize,
  ld: usize,
  lse: usize,
  ranges: usize,
  j0: i32,
): void {
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    const given = load<f32>(lse + <usize>i * 4);
    const isMasked = given == HIDDEN;
    const from = isMasked ? 0 : ranges ? rangeStart(ranges, i, j0, n) : 0;
    const to = isMasked ? 0 : ranges ? rangeEnd(ranges, i, j0, n) : n;
    const first = row + <usize>(from & ~7) * 4;
    const end = row + <usize>((max(from, to) + 7) & ~7) * 4;
    hideEnds(row, from, max(from, to));
    // A score may be far above its lse.
    exponentials(first, end, given, true);
    clear(row, first);
    clear(end, row + ld);
  }
}

/**
 * Replaces a tile of dp by ds = p·(dp − delta), with an f32 `delta` per row; 0 where p is 0, whatever dp is
 * there.
 */
export function toScoreGradients(m: i32, n: i32, dp: usize, p: usize, ld: usize, delta: usize): void {
  const zero = f32x4.splat(0);
  for (let i = 0; i < m; i++) {
    const row = <usize>i * ld;
    const subtrahend = f32x4.splat(load<f32>(delta + <usize>i * 4));
    for (let at = row; at < row + <usize>n * 4; at += 16) {
      const weight = v128.load(p + at);
      const ds = f32x4.mul(weight, f32x4.sub(v128.load(dp + at), subtrahend));
      v128.store(dp + at, v128.and(ds, f32x4.ne(weight, zero)));
    }
  }
}
