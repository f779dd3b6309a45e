/** The words of four blocks: after `drawBlocks`, word w of the block in lane b is lane b of `wordW`. */
export let word0: v128 = i32x4.splat(0);
export let word1: v128 = i32x4.splat(0);
export let word2: v128 = i32x4.splat(0);
export let word3: v128 = i32x4.splat(0);

@inline function lowHalves(even: v128, odd: v128): v128 {
  return v128.shuffle<i32>(even, odd, 0, 2, 4, 6);
}

@inline function highHalves(even: v128, odd: v128): v128 {
  return v128.shuffle<i32>(even, odd, 1, 3, 5, 7);
}

/** Philox4x32 (Salmon et al., SC'11) of four counters. */
export function drawBlocks(c0: v128, c1: v128, c2: v128, c3: v128, key0: u32, key1: u32, rounds: i32): void {
  const m0 = i32x4.splat(0xd2511f53);
  const m1 = i32x4.splat(0xcd9e8d57);
  for (let round = 0; round < rounds; round++) {
    const a = i64x2.extmul_low_i32x4_u(c0, m0);
    const b = i64x2.extmul_high_i32x4_u(c0, m0);
    const c = i64x2.extmul_low_i32x4_u(c2, m1);
    const d = i64x2.extmul_high_i32x4_u(c2, m1);
    c0 = v128.xor(v128.xor(highHalves(c, d), c1), i32x4.splat(key0));
    c1 = lowHalves(c, d);
    c2 = v128.xor(v128.xor(highHalves(a, b), c3), i32x4.splat(key1));
    c3 = lowHalves(a, b);
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  word0 = c0;
  word1 = c1;
  word2 = c2;
  word3 = c3;
}
