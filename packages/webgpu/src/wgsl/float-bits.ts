import type { WgslPiece } from '@tilewise/philox/wgsl';

/**
 * f32 → f16 bits, to nearest, ties to even, overflow to infinity. `pack2x16float` is not used: WGSL lets it round either
 * way, and its result beyond the f16 range is indeterminate.
 */
export const encodeF16: WgslPiece = {
  code: `fn f16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let a = bits & 0x7fffffffu;
  if (a > 0x7f800000u) {
    return sign | 0x7e00u;
  }
  if (a >= 0x477ff000u) {
    return sign | 0x7c00u;
  }
  if (a < 0x33000000u) {
    return sign;
  }
  if (a < 0x38800000u) {
    let shift = 126u - (a >> 23u);
    let mantissa = (a & 0x7fffffu) | 0x800000u;
    let kept = mantissa >> shift;
    let rest = mantissa & ((1u << shift) - 1u);
    let half = 1u << (shift - 1u);
    return sign | (kept + select(0u, 1u, rest > half || (rest == half && (kept & 1u) == 1u)));
  }
  return sign | ((a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u);
}
`,
};

/** f32 → bf16 bits, to nearest, ties to even. */
export const encodeBf16: WgslPiece = {
  code: `fn bf16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return (bits >> 16u) | 0x40u;
  }
  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
`,
};

/** Whether an f32 is −Infinity, told by its bits: WGSL lets arithmetic assume that there are no infinities. */
export const isNegativeInfinity: WgslPiece = {
  code: `fn is_negative_infinity(x: f32) -> bool {
  return bitcast<u32>(x) == 0xff800000u;
}
`,
};

/** Whether any component is infinite or NaN, told by the bits for the same reason. */
export const hasNonFinite: WgslPiece = {
  code: `fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}
`,
};
