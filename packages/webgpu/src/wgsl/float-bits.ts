import type { WgslPiece } from '@tilewise/philox/wgsl';

/**
 * f32 → f16 bits, to nearest, ties to even, overflow to infinity. `pack2x16float` is not used: WGSL lets it round either
 * way, and its result beyond the f16 range is indeterminate. Without branches, which are dear on four values at once.
 */
export const encodeF16: WgslPiece = {
  code: `fn f16_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let a = bits & vec4u(0x7fffffffu);
  let normal = (a + vec4u(0xfffu) + ((a >> vec4u(13u)) & vec4u(1u)) - vec4u(0x38000000u)) >> vec4u(13u);
  // Below 2^-14 the unit is 2^-24; from 2^-25 down the shift takes everything away.
  let shift = min(vec4u(126u) - min(a >> vec4u(23u), vec4u(125u)), vec4u(31u));
  let mantissa = (a & vec4u(0x7fffffu)) | vec4u(0x800000u);
  let kept = mantissa >> shift;
  let rest = mantissa & ((vec4u(1u) << shift) - vec4u(1u));
  let half = vec4u(1u) << (shift - vec4u(1u));
  let up = (rest > half) | ((rest == half) & ((kept & vec4u(1u)) == vec4u(1u)));
  let subnormal = kept + select(vec4u(), vec4u(1u), up);
  var code = select(normal, subnormal, a < vec4u(0x38800000u));
  code = select(code, vec4u(0x7c00u), a >= vec4u(0x477ff000u));
  code = select(code, vec4u(0x7e00u), a > vec4u(0x7f800000u));
  return code | ((bits >> vec4u(16u)) & vec4u(0x8000u));
}
`,
};

/** f32 → bf16 bits, to nearest, ties to even. */
export const encodeBf16: WgslPiece = {
  code: `fn bf16_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let rounded = (bits + vec4u(0x7fffu) + ((bits >> vec4u(16u)) & vec4u(1u))) >> vec4u(16u);
  let nan = (bits & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
  return select(rounded, (bits >> vec4u(16u)) | vec4u(0x40u), nan);
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
