import type { FloatLayout, Overflow } from './float-layout.ts';

/** Encodes the bits of an f32 as bits of a format, to nearest even. Uses integer operations only. */
export function bitEncoder(
  layout: FloatLayout,
  overflow: Overflow = layout.overflow,
): (bits: number) => number {
  const { mantissaBits, bias, maxCode, nan } = layout;
  const shift = 23 - mantissaBits;
  const half = (1 << (shift - 1)) - 1;
  const rebase = (127 - bias) << 23;
  const smallestNormal = (128 - bias) << 23;
  const subnormalShift = 151 - bias - mantissaBits;
  const signShift = 32 - layout.bits;
  const signBit = 1 << (layout.bits - 1);
  const beyond = overflow === 'saturate' ? maxCode : layout.overflowCode;
  return bits => {
    const a = bits & 0x7fffffff;
    if (a > 0x7f800000) return nan;
    const sign = (bits >>> signShift) & signBit;
    if (a >= smallestNormal) {
      // A carry out of the mantissa correctly increments the exponent.
      const code = (a - rebase + half + ((a >>> shift) & 1)) >>> shift;
      return sign | (code > maxCode ? beyond : code);
    }
    const exponent = a >>> 23;
    const mantissa = exponent === 0 ? a : (a & 0x7fffff) | 0x800000;
    const s = subnormalShift - (exponent === 0 ? 1 : exponent);
    // Less than half of the smallest subnormal; shifts beyond 31 would wrap around.
    if (s > 24) return sign;
    return sign | ((mantissa + (1 << (s - 1)) - 1 + ((mantissa >>> s) & 1)) >>> s);
  };
}

/** Encodes a number as bits of a format, rounded once, from f64 to nearest even. */
export function valueEncoder(
  layout: FloatLayout,
  overflow: Overflow = layout.overflow,
): (value: number) => number {
  const encode = bitEncoder(layout, overflow);
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  return value => {
    float[0] = value;
    if (float[0] !== value) {
      // Round to odd: towards zero, then set the last bit if anything was cut off. An f32 has at least two
      // more bits than every format here, so rounding the result to nearest even equals rounding the f64
      // itself.
      if (Math.abs(float[0]) > Math.abs(value)) bits[0]--;
      bits[0] |= 1;
    }
    return encode(bits[0]);
  };
}
