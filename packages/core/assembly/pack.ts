import { PANEL, PANEL_BYTES, sumOfLanes } from './vector';

/**
 * Row-major rows (`ld` bytes apart) as panels whose depth is the rows: element (s, d) goes to panel ⌊d / 8⌋,
 * row s. `width` is a multiple of 8, and the panels are `panelBytes` apart. Gives whether all of them are
 * finite: 0·x is 0 for a finite x and NaN for every other.
 */
export function packRows(
  count: i32,
  width: i32,
  source: usize,
  ld: usize,
  target: usize,
  panelBytes: usize,
): bool {
  const none = f32x4.splat(0);
  let zero = none;
  for (let s = 0; s < count; s++) {
    let from = source + <usize>s * ld;
    let to = target + <usize>s * PANEL_BYTES;
    for (let d = 0; d < width; d += PANEL) {
      const x = v128.load(from);
      const y = v128.load(from, 16);
      v128.store(to, x);
      v128.store(to, y, 16);
      zero = f32x4.add(zero, f32x4.add(f32x4.mul(x, none), f32x4.mul(y, none)));
      from += PANEL_BYTES;
      to += panelBytes;
    }
  }
  return sumOfLanes(zero) == 0;
}

/**
 * Packs the rows into panels whose depth is the head size: element (s, d) goes to panel ⌊s / 8⌋, row d.
 * `count` is a multiple of 8.
 */
export function packColumns(count: i32, depth: i32, source: usize, ld: usize, target: usize): void {
  for (let s = 0; s < count; s += 4) {
    const rows = source + <usize>s * ld;
    const to = target + <usize>(s / PANEL) * <usize>depth * PANEL_BYTES + <usize>(s % PANEL) * 4;
    let d = 0;
    for (; d + 4 <= depth; d += 4) {
      const from = rows + <usize>d * 4;
      transpose(from, ld, to + <usize>d * PANEL_BYTES, PANEL_BYTES);
    }
    for (; d < depth; d++) {
      for (let r = 0; r < 4; r++) {
        const x = load<f32>(rows + <usize>r * ld + <usize>d * 4);
        store<f32>(to + <usize>d * PANEL_BYTES + <usize>r * 4, x);
      }
    }
  }
}

/** A block of 4 × 4 from rows `ld` bytes apart to rows `step` bytes apart. */
@inline export function transpose(from: usize, ld: usize, to: usize, step: usize): void {
  const a = v128.load(from);
  const b = v128.load(from + ld);
  const c = v128.load(from + 2 * ld);
  const d = v128.load(from + 3 * ld);
  const ab01 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const ab23 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(ab01, cd01, 0, 2));
  v128.store(to + step, v128.shuffle<f64>(ab01, cd01, 1, 3));
  v128.store(to + 2 * step, v128.shuffle<f64>(ab23, cd23, 0, 2));
  v128.store(to + 3 * step, v128.shuffle<f64>(ab23, cd23, 1, 3));
}

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

/** Exponent and mantissa move up by 13 bits, and 2^112 makes up for the different bias, in subnormals too. */
@inline export function floatOfHalf(code: v128): v128 {
  const magnitude = v128.and(code, i32x4.splat(0x7fff));
  const sign = i32x4.shl(v128.and(code, i32x4.splat(0x8000)), 16);
  const value = f32x4.mul(i32x4.shl(magnitude, 13), f32x4.splat(5192296858534827628530496329220096.0));
  const special = v128.and(i32x4.gt_s(magnitude, i32x4.splat(0x7bff)), i32x4.splat(0x7f800000));
  return v128.or(v128.or(value, special), sign);
}

/**
 * Rounds `count` f32 (a multiple of 8) to bf16, to nearest even; NaN becomes the quiet one without a sign.
 */
export function encodeBf16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const low = bf16OfFloat(v128.load(source + n * 4));
    const high = bf16OfFloat(v128.load(source + n * 4, 16));
    v128.store(target + n * 2, i16x8.narrow_i32x4_u(low, high));
  }
}

@inline export function bf16OfFloat(x: v128): v128 {
  const odd = v128.and(i32x4.shr_u(x, 16), i32x4.splat(1));
  const rounded = i32x4.shr_u(i32x4.add(x, i32x4.add(odd, i32x4.splat(0x7fff))), 16);
  return v128.bitselect(rounded, i32x4.splat(0x7fc0), f32x4.eq(x, x));
}

/** Rounds `count` f32 (a multiple of 8) to f16 likewise; beyond the largest it becomes infinite. */
export function encodeF16(count: i32, source: usize, target: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 8) {
    const low = halfOfFloat(v128.load(source + n * 4));
    const high = halfOfFloat(v128.load(source + n * 4, 16));
    v128.store(target + n * 2, i16x8.narrow_i32x4_u(low, high));
  }
}

@inline export function halfOfFloat(x: v128): v128 {
  const magnitude = v128.and(x, i32x4.splat(0x7fffffff));
  // A carry out of the mantissa moves on into the exponent, which is 112 less in f16.
  const odd = v128.and(i32x4.shr_u(magnitude, 13), i32x4.splat(1));
  const rebased = i32x4.add(magnitude, i32x4.add(odd, i32x4.splat(0xfff - (112 << 23))));
  const normal = i32x4.min_s(i32x4.shr_u(rebased, 13), i32x4.splat(0x7c00));
  // Below 2^-14, adding 1/2 rounds to a multiple of 2^-24, whose count is left in the mantissa.
  const half = f32x4.splat(0.5);
  const subnormal = i32x4.sub(f32x4.add(magnitude, half), half);
  const isNormal = i32x4.ge_s(magnitude, i32x4.splat(0x38800000));
  const code = v128.bitselect(normal, subnormal, isNormal);
  const sign = v128.and(i32x4.shr_u(x, 16), i32x4.splat(0x8000));
  return v128.bitselect(v128.or(code, sign), i32x4.splat(0x7e00), f32x4.eq(x, x));
}
