/** What a conversion does with a value beyond the largest finite one. */
export type Overflow = 'ieee' | 'saturate';

/** A binary floating-point storage format of 16 or 8 bits. */
export interface FloatFormat {
  readonly bits: 8 | 16;
  /** Largest finite value. */
  readonly max: number;
  /** Smallest positive (subnormal) value. */
  readonly min: number;
  /** Stored bits of the significand, without the implicit one. */
  readonly mantissaBits: number;
  /** What is added to an exponent when it is stored. */
  readonly bias: number;
  /** Code of `max`. */
  readonly maxCode: number;
  /** What a positive value beyond `max` becomes when overflow is `'ieee'`: infinity, or NaN where there is none. */
  readonly overflowCode: number;
  /** The code that every NaN is encoded as. */
  readonly nan: number;
  /** What `encode` does on overflow unless told otherwise. */
  readonly overflow: Overflow;
  /** Bit pattern to value; exact, NaN for every NaN code. */
  readonly decode: (code: number) => number;
  /** Value (as f64, so that there is one rounding only) to bit pattern, to nearest, ties to even. */
  readonly encode: (value: number, overflow?: Overflow) => number;
}

interface Shape {
  readonly bits: 8 | 16;
  readonly mantissaBits: number;
  readonly bias: number;
  /** `finite`: the top exponent holds numbers, only the all-ones code is NaN (OCP E4M3). */
  readonly specials: 'ieee' | 'finite';
  readonly overflow: Overflow;
}

const exponentBits = new DataView(new ArrayBuffer(8));

/** floor(log2(a)) of a positive normal f64, read from its exponent field. */
function exponentOf(a: number): number {
  exponentBits.setFloat64(0, a);
  return ((exponentBits.getUint16(0) >> 4) & 0x7ff) - 1023;
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

function floatFormat({ bits, mantissaBits, bias, specials, overflow: defaultOverflow }: Shape): FloatFormat {
  const signBit = 1 << (bits - 1);
  const magnitudeMask = signBit - 1;
  const exponentMax = magnitudeMask >> mantissaBits;
  const mantissaMask = (1 << mantissaBits) - 1;
  const minExponent = 1 - bias;
  const quantum = 2 ** (minExponent - mantissaBits);
  const infinity = exponentMax << mantissaBits;
  const maxCode = specials === 'ieee' ? infinity - 1 : magnitudeMask - 1;
  const nan = specials === 'ieee' ? infinity | (1 << (mantissaBits - 1)) : magnitudeMask;
  // E4M3 has no infinity: what would become one becomes NaN.
  const overflowCode = specials === 'ieee' ? infinity : nan;

  function decode(code: number): number {
    const sign = code & signBit ? -1 : 1;
    const magnitude = code & magnitudeMask;
    if (magnitude > maxCode) return specials === 'ieee' && magnitude === infinity ? sign * Infinity : NaN;
    const exponent = magnitude >> mantissaBits;
    const mantissa = magnitude & mantissaMask;
    if (exponent === 0) return sign * mantissa * quantum;
    return sign * (mantissa + (1 << mantissaBits)) * quantum * 2 ** (exponent - 1);
  }

  function encode(value: number, overflow: Overflow = defaultOverflow): number {
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

  return {
    bits,
    max: decode(maxCode),
    min: quantum,
    mantissaBits,
    bias,
    maxCode,
    overflowCode,
    nan,
    overflow: defaultOverflow,
    decode,
    encode,
  };
}

/** IEEE 754 binary16. */
export const float16: FloatFormat = /* @__PURE__ */ floatFormat({
  bits: 16,
  mantissaBits: 10,
  bias: 15,
  specials: 'ieee',
  overflow: 'ieee',
});

/** bfloat16: the upper half of an f32. */
export const bfloat16: FloatFormat = /* @__PURE__ */ floatFormat({
  bits: 16,
  mantissaBits: 7,
  bias: 127,
  specials: 'ieee',
  overflow: 'ieee',
});

/** OCP FP8 E4M3: no infinity, largest finite value 448; saturates unless asked for `'ieee'`, which gives NaN. */
export const float8e4m3: FloatFormat = /* @__PURE__ */ floatFormat({
  bits: 8,
  mantissaBits: 3,
  bias: 7,
  specials: 'finite',
  overflow: 'saturate',
});

/** OCP FP8 E5M2: largest finite value 57344; saturates unless asked for `'ieee'`, which gives infinity. */
export const float8e5m2: FloatFormat = /* @__PURE__ */ floatFormat({
  bits: 8,
  mantissaBits: 2,
  bias: 15,
  specials: 'ieee',
  overflow: 'saturate',
});
