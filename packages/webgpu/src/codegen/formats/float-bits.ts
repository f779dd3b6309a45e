import type { WgslPiece } from '@tilewise/philox/wgsl';

/** Converts f32 to bf16 bits, rounding to nearest, ties to even. */
export const encodeBf16: WgslPiece = {
  code: `fn bf16_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let rounded = (bits + vec4u(0x7fffu) + ((bits >> vec4u(16u)) & vec4u(1u))) >> vec4u(16u);
  let nan = (bits & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
  return select(rounded, (bits >> vec4u(16u)) | vec4u(0x40u), nan);
}
`,
};

/**
 * Whether an f32 is −Infinity. Tests the bits, because WGSL lets arithmetic assume that there are no
 * infinities.
 */
export const isNegativeInfinity: WgslPiece = {
  code: `fn is_negative_infinity(x: f32) -> bool {
  return bitcast<u32>(x) == 0xff800000u;
}
`,
};

/**
 * Whether any component is infinite or NaN. Tests the bits, because WGSL lets arithmetic assume that there
 * are neither.
 */
export const hasNonFinite: WgslPiece = {
  code: `fn has_non_finite(x: vec4f) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7f800000u)) == vec4u(0x7f800000u));
}
`,
};

/** Which components are NaN. Tests the bits, because WGSL lets arithmetic assume that there are no NaNs. */
export const isNaN4: WgslPiece = {
  code: `fn is_nan(x: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
}
`,
};

/** The largest finite f32. */
export const highest = '0x1.fffffep+127f';

/**
 * The lowest finite f32, which serves as the maximum of no scores. It is not −Infinity, because WGSL lets
 * arithmetic assume that there are no infinities.
 */
export const lowest = '-0x1.fffffep+127f';

/**
 * Replaces NaN and +Infinity with the largest finite number, which marks a row of scores whose softmax is
 * NaN. As signed integers, the bits of +Infinity and of NaN with sign 0 are the largest; as unsigned
 * integers, those of NaN with sign 1.
 */
export const markNonFinite: WgslPiece = {
  code: `fn mark_non_finite(x: vec4f) -> vec4f {
  let is_high = (bitcast<vec4i>(x) > vec4i(0x7f7fffff)) | (bitcast<vec4u>(x) > vec4u(0xff800000u));
  return select(x, vec4f(${highest}), is_high);
}
`,
};
