import { rangeEnd, rangeStart } from './ranges';

/**
 * The stages of a tile of scores (m × n, row-major, rows `ld` bytes apart) between the product and the
 * softmax. Rows are read and written up to the next multiple of 4. Rows of a bias or mask are `ldBias` or
 * `ldSeen` bytes apart, or 0 if one row serves all.
 */

const HIDDEN: f32 = -Infinity;

/** Adds a bias. A bias of −∞ masks, even a product that is NaN. */
export function addBias(m: i32, n: i32, scores: usize, ld: usize, bias: usize, ldBias: usize): void {
  const hidden = f32x4.splat(HIDDEN);
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    const added = bias + <usize>i * ldBias;
    for (let at: usize = 0; at < <usize>n * 4; at += 16) {
      const b = v128.load(added + at);
      const sum = f32x4.add(v128.load(row + at), b);
      v128.store(row + at, v128.bitselect(hidden, sum, f32x4.eq(b, hidden)));
    }
  }
}

/**
 * Subtracts slope · |distance|. `distance` is the distance of the first pair; it increases by one per row and
 * decreases by one per column.
 */
export function addAlibi(m: i32, n: i32, scores: usize, ld: usize, slope: f32, distance: i32): void {
  const slopes = f32x4.splat(slope);
  const step = f32x4.splat(4);
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    let d = f32x4.sub(f32x4.splat(<f32>(distance + i)), f32x4(0, 1, 2, 3));
    for (let at: usize = 0; at < <usize>n * 4; at += 16) {
      const penalty = f32x4.mul(slopes, f32x4.abs(d));
      v128.store(row + at, f32x4.sub(v128.load(row + at), penalty));
      d = f32x4.sub(d, step);
    }
  }
}

/** Sets the scores of pairs that are not seen, whose byte is 0, to −∞. */
export function hideUnseen(m: i32, n: i32, scores: usize, ld: usize, seen: usize, ldSeen: usize): void {
  const hidden = f32x4.splat(HIDDEN);
  for (let i = 0; i < m; i++) {
    const row = scores + <usize>i * ld;
    const bytes = seen + <usize>i * ldSeen;
    for (let j: usize = 0; j < <usize>n; j += 4) {
      const unseen = i32x4.eq(wideBytes(bytes + j), i32x4.splat(0));
      v128.store(row + 4 * j, v128.bitselect(hidden, v128.load(row + 4 * j), unseen));
    }
  }
}

/** The number of pairs within the ranges that are seen, whose byte is not 0. */
export function countSeen(m: i32, n: i32, seen: usize, ldSeen: usize, ranges: usize, j0: i32): i32 {
  let count = 0;
  const none = i8x16.splat(0);
  for (let i = 0; i < m; i++) {
    const bytes = seen + <usize>i * ldSeen;
    const to = rangeEnd(ranges, i, j0, n);
    let j = rangeStart(ranges, i, j0, n);
    for (; j + 16 <= to; j += 16) {
      count += popcnt(i8x16.bitmask(i8x16.ne(v128.load(bytes + <usize>j), none)));
    }
    for (; j < to; j++) count += i32(load<u8>(bytes + <usize>j) != 0);
  }
  return count;
}

/** Makes masks of 32 bits, as dropout needs them, from bytes that are not 0 for kept weights. */
export function widenMasks(m: i32, n: i32, bytes: usize, ldBytes: usize, masks: usize, ld: usize): void {
  for (let i = 0; i < m; i++) {
    const from = bytes + <usize>i * ldBytes;
    const row = masks + <usize>i * ld;
    for (let j: usize = 0; j < <usize>n; j += 4) {
      v128.store(row + 4 * j, i32x4.ne(wideBytes(from + j), i32x4.splat(0)));
    }
  }
}

/** Converts four bytes to four i32. */
@inline function wideBytes(at: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at)));
}
