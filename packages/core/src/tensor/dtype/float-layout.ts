/** How a conversion treats a value beyond the largest finite one. */
export type Overflow = 'ieee' | 'saturate';

/** The numbers that describe a binary floating-point storage format of 16 or 8 bits. */
export interface FloatLayout {
  /** The size of a stored number. */
  readonly bits: 8 | 16;
  /** Smallest positive (subnormal) value. */
  readonly min: number;
  /** Stored bits of the significand, without the implicit one. */
  readonly mantissaBits: number;
  /** The number added to an exponent when it is stored. */
  readonly bias: number;
  /** Code of the largest finite value. */
  readonly maxCode: number;
  /**
   * The code for a positive value beyond the largest finite one if overflow is `'ieee'`: infinity, or NaN if
   * the format has no infinity.
   */
  readonly overflowCode: number;
  /** The code that encodes every NaN. */
  readonly nan: number;
  /** The default overflow of a conversion. */
  readonly overflow: Overflow;
}

/**
 * The layout of a format with the given numbers of exponent bits, with the bias of IEEE 754, and significand
 * bits. If it is `finite`, the top exponent holds numbers, and only the all-ones code is NaN (OCP E4M3).
 */
function floatLayout(
  exponentBits: number,
  mantissaBits: number,
  overflow: Overflow,
  finite = false,
): FloatLayout {
  const bits = 1 + exponentBits + mantissaBits === 8 ? 8 : 16;
  const bias = 2 ** (exponentBits - 1) - 1;
  const magnitudeMask = (1 << (bits - 1)) - 1;
  const infinity = (magnitudeMask >> mantissaBits) << mantissaBits;
  const nan = finite ? magnitudeMask : infinity | (1 << (mantissaBits - 1));
  return {
    bits,
    min: 2 ** (1 - bias - mantissaBits),
    mantissaBits,
    bias,
    maxCode: (finite ? magnitudeMask : infinity) - 1,
    // E4M3 has no infinity, so values that would become one become NaN.
    overflowCode: finite ? nan : infinity,
    nan,
    overflow,
  };
}

/** IEEE 754 binary16. */
export const float16Layout: FloatLayout = /* @__PURE__ */ floatLayout(5, 10, 'ieee');
/** bfloat16: the upper half of an f32. */
export const bfloat16Layout: FloatLayout = /* @__PURE__ */ floatLayout(8, 7, 'ieee');
/**
 * OCP FP8 E4M3: no infinity, largest finite value 448; saturates by default, and overflows to NaN with
 * `'ieee'`.
 */
export const float8e4m3Layout: FloatLayout = /* @__PURE__ */ floatLayout(4, 3, 'saturate', true);
/**
 * OCP FP8 E5M2: largest finite value 57344; saturates by default, and overflows to infinity with `'ieee'`.
 */
export const float8e5m2Layout: FloatLayout = /* @__PURE__ */ floatLayout(5, 2, 'saturate');
