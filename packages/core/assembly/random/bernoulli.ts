import { drawBlocks, word0, word1, word2, word3 } from './philox';

/**
 * Draws elements `first` (a multiple of 16) ≤ n < `end` of a tensor at `target`, a byte each: 0 with the
 * probability p (f32), else 1, as oneDNN's dropout does. `seed` and `offset` (two u32 each) and p are
 * addresses. `packages/philox/src/dropout/onednn.ts` has the formula.
 */
export function drawBernoulli(first: u32, end: u32, target: usize, seed: usize, offset: usize, p: usize): void {
  const threshold = <u64>Math.floor(4294967295.0 * <f64>load<f32>(p)) + 1;
  if (threshold >> 32) {
    memory.fill(target + first, 0, end - first);
    return;
  }
  const thresholds = i32x4.splat(<u32>threshold);
  const key0 = load<u32>(seed);
  const key1 = load<u32>(seed, 4);
  const low = v128.load32_splat(offset);
  const high = v128.load32_splat(offset, 4);
  for (let n = first; n < end; n += 16) {
    const block = i32x4.add(i32x4.splat(n), i32x4(0, 4, 8, 12));
    drawBlocks(low, high, block, i32x4.splat(0), key0, key1, 10);
    const kept = inOrder(thresholds);
    if (end - n >= 16) {
      v128.store(target + n, kept);
      continue;
    }
    let bytes = i64x2.extract_lane(kept, 0);
    for (let at = n; at < end; at++) {
      if (at === n + 8) bytes = i64x2.extract_lane(kept, 1);
      store<u8>(target + at, <u8>bytes);
      bytes >>= 8;
    }
  }
}

/** For each of the 16 words of four blocks in order, 1 if the word is at least a threshold, else 0. */
@inline function inOrder(thresholds: v128): v128 {
  const first = i16x8.narrow_i32x4_s(i32x4.ge_u(word0, thresholds), i32x4.ge_u(word1, thresholds));
  const last = i16x8.narrow_i32x4_s(i32x4.ge_u(word2, thresholds), i32x4.ge_u(word3, thresholds));
  // Byte 4·w + b is that of word w of block b.
  const byWord = i8x16.narrow_i16x8_s(first, last);
  const byBlock = v128.shuffle<i8>(byWord, byWord, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return v128.and(byBlock, i8x16.splat(1));
}
