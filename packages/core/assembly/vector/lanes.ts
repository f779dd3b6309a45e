/**
 * Functions on four lanes at once for which WebAssembly has no instruction. Loops that are generated at run
 * time call them.
 */

/**
 * ln x in f64, two lanes at a time: its error exceeds that of correct rounding by at most 1e-11 of a unit in
 * the last place.
 */
export function logLanes(x: v128): v128 {
  const low = f32x4.demote_f64x2_zero(logPair(f64x2.promote_low_f32x4(x)));
  const high = f32x4.demote_f64x2_zero(logPair(f64x2.promote_low_f32x4(v128.shuffle<i64>(x, x, 1, 0))));
  return v128.shuffle<i64>(low, high, 0, 2);
}

/**
 * ln x for x = m·2^e with m from √½ to √2: e·ln 2 + 2·artanh(s) with s = (m − 1) / (m + 1), |s| < 0.172. The
 * first omitted term of artanh's series is s^15 / 15, 3e-12 of the result.
 */
function logPair(x: v128): v128 {
  const one = f64x2.splat(1);
  const mantissa = v128.or(v128.and(x, i64x2.splat(0xfffffffffffff)), one);
  const isHigh = f64x2.gt(mantissa, f64x2.splat(1.4142135623730951));
  const m = v128.bitselect(f64x2.mul(mantissa, f64x2.splat(0.5)), mantissa, isHigh);
  const exponent = i64x2.sub(i64x2.sub(i64x2.shr_u(x, 52), i64x2.splat(1023)), isHigh);
  const e = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(exponent, exponent, 0, 2, 0, 2));
  const s = f64x2.div(f64x2.sub(m, one), f64x2.add(m, one));
  const s2 = f64x2.mul(s, s);
  let sum = f64x2.add(f64x2.splat(1.0 / 11.0), f64x2.mul(s2, f64x2.splat(1.0 / 13.0)));
  sum = f64x2.add(f64x2.splat(1.0 / 9.0), f64x2.mul(s2, sum));
  sum = f64x2.add(f64x2.splat(1.0 / 7.0), f64x2.mul(s2, sum));
  sum = f64x2.add(f64x2.splat(1.0 / 5.0), f64x2.mul(s2, sum));
  sum = f64x2.add(f64x2.splat(1.0 / 3.0), f64x2.mul(s2, sum));
  sum = f64x2.mul(f64x2.add(s, s), f64x2.add(one, f64x2.mul(s2, sum)));
  const value = f64x2.add(f64x2.mul(e, f64x2.splat(0.6931471805599453)), sum);
  // 0 gives −∞, a negative number gives NaN; +∞ and NaN do not change.
  const infinite = f64x2.splat(Infinity);
  const known = v128.bitselect(x, value, f64x2.eq(x, infinite));
  const atZero = v128.bitselect(f64x2.neg(infinite), known, f64x2.eq(x, f64x2.splat(0)));
  return v128.bitselect(atZero, f64x2.splat(NaN), f64x2.ge(x, f64x2.splat(0)));
}

/** ⌊a / b⌋ of i32; a if b is 0. */
export function floorDivLanes(a: v128, b: v128): v128 {
  let q = i32x4.splat(0);
  q = i32x4.replace_lane(q, 0, floorDiv(i32x4.extract_lane(a, 0), i32x4.extract_lane(b, 0)));
  q = i32x4.replace_lane(q, 1, floorDiv(i32x4.extract_lane(a, 1), i32x4.extract_lane(b, 1)));
  q = i32x4.replace_lane(q, 2, floorDiv(i32x4.extract_lane(a, 2), i32x4.extract_lane(b, 2)));
  return i32x4.replace_lane(q, 3, floorDiv(i32x4.extract_lane(a, 3), i32x4.extract_lane(b, 3)));
}

/** a − b·⌊a / b⌋ of i32; 0 if b is 0. */
export function modLanes(a: v128, b: v128): v128 {
  const isZero = i32x4.eq(b, i32x4.splat(0));
  return v128.andnot(i32x4.sub(a, i32x4.mul(b, floorDivLanes(a, b))), isZero);
}

@inline function floorDiv(a: i32, b: i32): i32 {
  if (b == 0) return a;
  // The one quotient that does not fit wraps around.
  if (b == -1) return -a;
  const q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
