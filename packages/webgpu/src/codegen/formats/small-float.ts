import type { FloatLayout } from '@tilewise/core/engine';
import type { WgslPiece } from '@tilewise/philox/wgsl';

/**
 * `NAME_bits(x: vec4f) -> vec4u`: converts f32 to the codes of a smaller float, rounding to nearest, ties to
 * even, with core's overflow. Uses integers, because WGSL lets floats round either way, and no branches,
 * which are expensive on four values at once. A carry out of the mantissa correctly increments the exponent.
 * Below the normal numbers the unit is fixed, and the shift turns everything up to half a unit into 0.
 */
export function encodeSmallFloat(name: string, format: FloatLayout): WgslPiece {
  const { bits, mantissaBits, bias, maxCode, nan, overflow, overflowCode } = format;
  const shift = 23 - mantissaBits;
  const beyond = overflow === 'saturate' ? maxCode : overflowCode;
  const smallestNormal = (128 - bias) * 2 ** 23;
  const rebase = (127 - bias) * 2 ** 23 - (2 ** (shift - 1) - 1);
  return {
    code: `fn ${name}_bits(x: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(x);
  let a = bits & vec4u(0x7fffffffu);
  let normal = (a + ((a >> vec4u(${shift}u)) & vec4u(1u)) - vec4u(${rebase}u)) >> vec4u(${shift}u);
  let drop = min(vec4u(${151 - bias - mantissaBits}u) - min(a >> vec4u(23u), vec4u(${127 - bias}u)), vec4u(31u));
  let mantissa = (a & vec4u(0x7fffffu)) | vec4u(0x800000u);
  let kept = mantissa >> drop;
  let rest = mantissa & ((vec4u(1u) << drop) - vec4u(1u));
  let half = vec4u(1u) << (drop - vec4u(1u));
  let up = (rest > half) | ((rest == half) & ((kept & vec4u(1u)) == vec4u(1u)));
  var code = select(normal, vec4u(${beyond}u), normal > vec4u(${maxCode}u));
  code = select(code, kept + select(vec4u(), vec4u(1u), up), a < vec4u(${smallestNormal}u));
  code = select(code, vec4u(${nan}u), a > vec4u(0x7f800000u));
  return code | ((bits >> vec4u(${32 - bits}u)) & vec4u(${2 ** (bits - 1)}u));
}
`,
  };
}

/**
 * `NAME_values(codes: vec4u) -> vec4f`: the exact values of codes of an 8-bit float, including NaN and
 * infinity.
 */
export function decodeSmallFloat(name: string, format: FloatLayout): WgslPiece {
  const { mantissaBits, bias, min, maxCode, overflowCode, nan } = format;
  const shift = 23 - mantissaBits;
  // The code after the largest finite one is infinity, if the format has infinities; all others are NaN.
  const special =
    overflowCode === nan
      ? 'vec4u(0x7fc00000u)'
      : `select(vec4u(0x7fc00000u), vec4u(0x7f800000u), a == vec4u(${overflowCode}u))`;
  return {
    code: `fn ${name}_values(codes: vec4u) -> vec4f {
  let a = codes & vec4u(0x7fu);
  let normal = (a << vec4u(${shift}u)) + vec4u(${(127 - bias) * 2 ** 23}u);
  let subnormal = bitcast<vec4u>(vec4f(a) * ${min});
  var bits = select(normal, subnormal, a < vec4u(${2 ** mantissaBits}u));
  bits = select(bits, ${special}, a > vec4u(${maxCode}u));
  return bitcast<vec4f>(bits | ((codes & vec4u(0x80u)) << vec4u(24u)));
}
`,
  };
}
