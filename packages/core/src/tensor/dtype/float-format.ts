import { valueEncoder } from './float-encoder.ts';
import {
  bfloat16Layout,
  type FloatLayout,
  float8e4m3Layout,
  float8e5m2Layout,
  float16Layout,
  type Overflow,
} from './float-layout.ts';

/** A binary floating-point storage format of 16 or 8 bits, with its conversions. */
export interface FloatFormat extends FloatLayout {
  /** Largest finite value. */
  readonly max: number;
  /** Converts a bit pattern to its value; exact, NaN for every NaN code. */
  readonly decode: (code: number) => number;
  /**
   * Converts a value (an f64, so that it is rounded only once) to a bit pattern, to nearest, ties to even.
   */
  readonly encode: (value: number, overflow?: Overflow) => number;
}

function floatFormat(layout: FloatLayout): FloatFormat {
  const { bits, mantissaBits, min, maxCode, overflowCode, nan } = layout;
  const signBit = 1 << (bits - 1);
  const magnitudeMask = signBit - 1;
  const mantissaMask = (1 << mantissaBits) - 1;

  function decode(code: number): number {
    const sign = code & signBit ? -1 : 1;
    const magnitude = code & magnitudeMask;
    if (magnitude > maxCode) return magnitude !== nan && magnitude === overflowCode ? sign * Infinity : NaN;
    const exponent = magnitude >> mantissaBits;
    const mantissa = magnitude & mantissaMask;
    if (exponent === 0) return sign * mantissa * min;
    return sign * (mantissa + (1 << mantissaBits)) * min * 2 ** (exponent - 1);
  }

  const encoders = { ieee: valueEncoder(layout, 'ieee'), saturate: valueEncoder(layout, 'saturate') };
  const encode: FloatFormat['encode'] = (value, overflow = layout.overflow) => encoders[overflow](value);

  return { ...layout, max: decode(maxCode), decode, encode };
}

/** IEEE 754 binary16. */
export const float16: FloatFormat = /* @__PURE__ */ floatFormat(float16Layout);

/** bfloat16: the upper half of an f32. */
export const bfloat16: FloatFormat = /* @__PURE__ */ floatFormat(bfloat16Layout);

/**
 * OCP FP8 E4M3: no infinity, largest finite value 448; saturates by default, and overflows to NaN with
 * `'ieee'`.
 */
export const float8e4m3: FloatFormat = /* @__PURE__ */ floatFormat(float8e4m3Layout);

/**
 * OCP FP8 E5M2: largest finite value 57344; saturates by default, and overflows to infinity with `'ieee'`.
 */
export const float8e5m2: FloatFormat = /* @__PURE__ */ floatFormat(float8e5m2Layout);
