import {
  bfloat16Layout,
  type FloatLayout,
  float8e4m3Layout,
  float8e5m2Layout,
  float16Layout,
  type Overflow,
} from './float-layout.ts';
import { roundHalfEven } from './round.ts';

/** A binary floating-point storage format of 16 or 8 bits, with its conversions. */
export interface FloatFormat extends FloatLayout {
  /** Largest finite value. */
  readonly max: number;
  /** Bit pattern to value; exact, NaN for every NaN code. */
  readonly decode: (code: number) => number;
  /** Value (as f64, so that there is one rounding only) to bit pattern, to nearest, ties to even. */
  readonly encode: (value: number, overflow?: Overflow) => number;
}

const exponentBits = new DataView(new ArrayBuffer(8));

/** floor(log2(a)) of a positive normal f64, read from its exponent field. */
function exponentOf(a: number): number {
  exponentBits.setFloat64(0, a);
  return ((exponentBits.getUint16(0) >> 4) & 0x7ff) - 1023;
}

function floatFormat(layout: FloatLayout): FloatFormat {
  const { bits, mantissaBits, bias, min, maxCode, overflowCode, nan } = layout;
  const signBit = 1 << (bits - 1);
  const magnitudeMask = signBit - 1;
  const mantissaMask = (1 << mantissaBits) - 1;
  const minExponent = 1 - bias;

  function decode(code: number): number {
    const sign = code & signBit ? -1 : 1;
    const magnitude = code & magnitudeMask;
    if (magnitude > maxCode) return magnitude !== nan && magnitude === overflowCode ? sign * Infinity : NaN;
    const exponent = magnitude >> mantissaBits;
    const mantissa = magnitude & mantissaMask;
    if (exponent === 0) return sign * mantissa * min;
    return sign * (mantissa + (1 << mantissaBits)) * min * 2 ** (exponent - 1);
  }

  function encode(value: number, overflow: Overflow = layout.overflow): number {
    if (Number.isNaN(value)) return nan;
    const sign = value < 0 || Object.is(value, -0) ? signBit : 0;
    const a = Math.abs(value);
    const beyond = overflow === 'saturate' ? maxCode : overflowCode;
    if (a === Infinity) return sign | beyond;
    if (a < 2 ** -200) return sign;
    const exponent = Math.max(exponentOf(a), minExponent);
    // Rounding up to the next power of two carries from the mantissa into the exponent field by itself.
    const rounded = roundHalfEven(a / 2 ** (exponent - mantissaBits));
    const code = (exponent - minExponent) * (1 << mantissaBits) + rounded;
    return sign | (code > maxCode ? beyond : code);
  }

  return { ...layout, max: decode(maxCode), decode, encode };
}

/** IEEE 754 binary16. */
export const float16: FloatFormat = /* @__PURE__ */ floatFormat(float16Layout);

/** bfloat16: the upper half of an f32. */
export const bfloat16: FloatFormat = /* @__PURE__ */ floatFormat(bfloat16Layout);

/**
 * OCP FP8 E4M3: no infinity, largest finite value 448; saturates unless asked for `'ieee'`, which gives NaN.
 */
export const float8e4m3: FloatFormat = /* @__PURE__ */ floatFormat(float8e4m3Layout);

/** OCP FP8 E5M2: largest finite value 57344; saturates unless asked for `'ieee'`, which gives infinity. */
export const float8e5m2: FloatFormat = /* @__PURE__ */ floatFormat(float8e5m2Layout);
