/** Widens `count` bf16 (a multiple of 8) to f32. */
export function decodeBf16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const codes = v128.load(source + n * 2);
    v128.store(target + n * 4, i32x4.shl(i32x4.extend_low_i16x8_u(codes), 16));
    v128.store(target + n * 4, i32x4.shl(i32x4.extend_high_i16x8_u(codes), 16), 16);
  }
}

/** Widens `count` f16 (a multiple of 8) to f32. */
export function decodeF16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const codes = v128.load(source + n * 2);
    v128.store(target + n * 4, floatOfHalf(i32x4.extend_low_i16x8_u(codes)));
    v128.store(target + n * 4, floatOfHalf(i32x4.extend_high_i16x8_u(codes)), 16);
  }
}

/** Exponent and mantissa move up by 13 bits, and 2^112 corrects the bias, in subnormals too. */
@inline export function floatOfHalf(code: v128): v128 {
  const magnitude = v128.and(code, i32x4.splat(0x7fff));
  const sign = i32x4.shl(v128.and(code, i32x4.splat(0x8000)), 16);
  const value = f32x4.mul(i32x4.shl(magnitude, 13), f32x4.splat(5192296858534827628530496329220096.0));
  const special = v128.and(i32x4.gt_s(magnitude, i32x4.splat(0x7bff)), i32x4.splat(0x7f800000));
  return v128.or(v128.or(value, special), sign);
}

/**
 * Rounds `count` f32 (a multiple of 8) to bf16, to nearest even; NaN becomes the quiet NaN without a sign.
 */
export function encodeBf16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const low = bf16OfFloat(v128.load(source + n * 4));
    const high = bf16OfFloat(v128.load(source + n * 4, 16));
    v128.store(target + n * 2, i16x8.narrow_i32x4_u(low, high));
  }
}

@inline function bf16OfFloat(x: v128): v128 {
  const odd = v128.and(i32x4.shr_u(x, 16), i32x4.splat(1));
  const rounded = i32x4.shr_u(i32x4.add(x, i32x4.add(odd, i32x4.splat(0x7fff))), 16);
  return v128.bitselect(rounded, i32x4.splat(0x7fc0), f32x4.eq(x, x));
}

/** Rounds `count` f32 (a multiple of 8) to f16 likewise; values beyond the largest become infinite. */
export function encodeF16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const low = halfOfFloat(v128.load(source + n * 4));
    const high = halfOfFloat(v128.load(source + n * 4, 16));
    v128.store(target + n * 2, i16x8.narrow_i32x4_u(low, high));
  }
}

@inline function halfOfFloat(x: v128): v128 {
  const magnitude = v128.and(x, i32x4.splat(0x7fffffff));
  // A carry out of the mantissa correctly increments the exponent, which is 112 less in f16.
  const odd = v128.and(i32x4.shr_u(magnitude, 13), i32x4.splat(1));
  const rebased = i32x4.add(magnitude, i32x4.add(odd, i32x4.splat(0xfff - (112 << 23))));
  const normal = i32x4.min_s(i32x4.shr_u(rebased, 13), i32x4.splat(0x7c00));
  // Below 2^-14, adding 1/2 rounds to a multiple of 2^-24 and leaves the multiplier in the mantissa.
  const half = f32x4.splat(0.5);
  const subnormal = i32x4.sub(f32x4.add(magnitude, half), half);
  const isNormal = i32x4.ge_s(magnitude, i32x4.splat(0x38800000));
  const code = v128.bitselect(normal, subnormal, isNormal);
  const sign = v128.and(i32x4.shr_u(x, 16), i32x4.splat(0x8000));
  return v128.bitselect(v128.or(code, sign), i32x4.splat(0x7e00), f32x4.eq(x, x));
}
