import { drawBlocks, word0, word1, word2, word3 } from '../random/philox';

/**
 * Dropout of a tile: a mask of 32 bits for each of its m × n weights, all ones if the weight is kept. The
 * decisions are those of the schemes in `@tilewise/philox`, whose files have the formulas; here four blocks
 * are drawn at once, one per lane.
 *
 * Rows of masks are `ld` bytes apart. A row may write up to 32 elements before its first and after its last
 * column.
 */

/**
 * Draws one word per weight, which is kept if the word is at least `threshold`. Row i starts at word
 * `position` + i·`rowStride` of the stream, in which a block has four words. The counter of a block is its
 * number as the low half and `other` as the high half or, with `counted`, `other` as the low half and the
 * position of the block's first word as the high half.
 */
export function keepWords(
  m: i32,
  n: i32,
  masks: usize,
  ld: usize,
  positionLow: u32,
  positionHigh: u32,
  rowStride: u32,
  otherLow: u32,
  otherHigh: u32,
  counted: bool,
  key0: u32,
  key1: u32,
  threshold: u32,
): void {
  let position = ((<u64>positionHigh) << 32) | <u64>positionLow;
  const thresholds = i32x4.splat(threshold);
  const step: u32 = counted ? 4 : 1;
  const steps = i32x4.mul(i32x4(0, 1, 2, 3), i32x4.splat(step));
  // Positions have 64 bits, so the numbers of blocks have 62; the positions of first words keep all 64.
  const highBits = i32x4.splat(counted ? 0xffffffff : 0x3fffffff);
  const low = i32x4.splat(otherLow);
  const high = i32x4.splat(otherHigh);
  for (let i = 0; i < m; i++) {
    const lane = <i32>(position & 3);
    let at = masks + <usize>i * ld - <usize>lane * 4;
    const end = masks + <usize>i * ld + <usize>n * 4;
    let block = counted ? position - <u64>lane : position >> 2;
    while (at < end) {
      const first = i32x4.splat(<u32>block);
      const block0 = i32x4.add(first, steps);
      // A lane that has wrapped around carries.
      const carried = i32x4.sub(i32x4.splat(<u32>(block >> 32)), i32x4.lt_u(block0, first));
      const block1 = v128.and(carried, highBits);
      if (counted) drawBlocks(low, high, block0, block1, key0, key1, 10);
      else drawBlocks(block0, block1, low, high, key0, key1, 10);
      storeMasks(at, thresholds);
      at += 64;
      block += 4 * step;
    }
    position += rowStride;
  }
}

/** Stores the masks of 16 words, word by word, in the order of the blocks. */
@inline function storeMasks(at: usize, thresholds: v128): void {
  const a = i32x4.ge_u(word0, thresholds);
  const b = i32x4.ge_u(word1, thresholds);
  const c = i32x4.ge_u(word2, thresholds);
  const d = i32x4.ge_u(word3, thresholds);
  const ab01 = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const ab23 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(at, v128.shuffle<i64>(ab01, cd01, 0, 2));
  v128.store(at, v128.shuffle<i64>(ab01, cd01, 1, 3), 16);
  v128.store(at, v128.shuffle<i64>(ab23, cd23, 0, 2), 32);
  v128.store(at, v128.shuffle<i64>(ab23, cd23, 1, 3), 48);
}

/**
 * Draws one byte per weight, which is kept if the byte is below `threshold`, with the blocks of
 * FlashAttention-2: `counter` (64 bits) belongs to the head, and the tile starts at row i0 and column j0 of
 * the sequence.
 */
export function keepBytes(
  m: i32,
  n: i32,
  masks: usize,
  ld: usize,
  counterLow: u32,
  counterHigh: u32,
  i0: i32,
  j0: i32,
  key0: u32,
  key1: u32,
  threshold: u32,
): void {
  const counter = ((<u64>counterHigh) << 32) | <u64>counterLow;
  const pairs = i32x4(0, 1, 2, 3);
  const thresholds = i32x4.splat(threshold);
  for (let i = i0; i < i0 + m; i++) {
    const row = counter + <u64>((i & 7) * 4);
    const first = i32x4.splat(<u32>row);
    const c0 = i32x4.add(first, pairs);
    const c1 = i32x4.sub(i32x4.splat(<u32>(row >> 32)), i32x4.lt_u(c0, first));
    const shift = ((i >> 3) & 1) * 16;
    let at = masks + <usize>(i - i0) * ld - <usize>(j0 & 31) * 4;
    for (let j = j0 & ~31; j < j0 + n; j += 32) {
      drawBlocks(c0, c1, i32x4.splat(i >> 4), i32x4.splat(j >> 5), key0, key1, 7);
      storeByteMasks(at, word0, shift, thresholds);
      storeByteMasks(at + 32, word1, shift, thresholds);
      storeByteMasks(at + 64, word2, shift, thresholds);
      storeByteMasks(at + 96, word3, shift, thresholds);
      at += 128;
    }
  }
}

/** Stores the masks of 8 columns: two bytes of each of four words. */
@inline function storeByteMasks(at: usize, word: v128, shift: i32, thresholds: v128): void {
  const byte = i32x4.splat(255);
  const even = i32x4.lt_s(v128.and(i32x4.shr_u(word, shift), byte), thresholds);
  const odd = i32x4.lt_s(v128.and(i32x4.shr_u(word, shift + 8), byte), thresholds);
  v128.store(at, v128.shuffle<i32>(even, odd, 0, 4, 1, 5));
  v128.store(at, v128.shuffle<i32>(even, odd, 2, 6, 3, 7), 16);
}

/**
 * Multiplies the kept weights (rows `ld` bytes apart, from `source` to `target`) by a factor; the other
 * weights become 0.
 */
export function dropWeights(
  m: i32,
  n: i32,
  source: usize,
  target: usize,
  ld: usize,
  masks: usize,
  ldMasks: usize,
  factor: f32,
): void {
  const factors = f32x4.splat(factor);
  for (let i = 0; i < m; i++) {
    const row = <usize>i * ld;
    const kept = masks + <usize>i * ldMasks;
    for (let at: usize = 0; at < <usize>n * 4; at += 16) {
      const weight = v128.and(v128.load(source + row + at), v128.load(kept + at));
      v128.store(target + row + at, f32x4.mul(weight, factors));
    }
  }
}
