import { InvalidShapeError } from '../../errors.ts';
import { decodeTable } from './decode-table.ts';
import { type DType, dtypeInfo, type TypedArray } from './dtype.ts';
import { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './float-format.ts';
import type { Overflow } from './float-layout.ts';

type SmallFloat = 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2';

const formats: Readonly<Record<SmallFloat, FloatFormat>> = {
  f16: float16,
  bf16: bfloat16,
  f8e4m3: float8e4m3,
  f8e5m2: float8e5m2,
};

function isSmallFloat(dtype: DType): dtype is SmallFloat {
  return Object.hasOwn(formats, dtype);
}

/**
 * Reads elements as they are stored for `dtype` into numbers. Exact, except that i32 and u32 beyond 2²⁴ are
 * rounded when `out` is a Float32Array.
 * @throws InvalidShapeError when `out` is shorter than `data`.
 */
export function decodeArray<A extends Float32Array | Float64Array>(
  dtype: DType,
  data: TypedArray,
  out: A,
): A {
  checkLength(data, out);
  if (isSmallFloat(dtype)) {
    const table = decodeTable(dtype);
    for (let n = 0; n < data.length; n++) out[n] = table[data[n]];
  } else if (dtype === 'bool') {
    for (let n = 0; n < data.length; n++) out[n] = data[n] === 0 ? 0 : 1;
  } else {
    out.set(data);
  }
  return out;
}

/**
 * Stores numbers as elements of `dtype`, each rounded once, from f64 to nearest even. Integers truncate and
 * wrap around as typed arrays do; a bool is whether the number is not 0.
 * @param out of the array type of `dtype`.
 * @param overflow what becomes of a number beyond the largest finite one of f16, bf16 or f8; default: as in
 * `FloatFormat`.
 * @throws InvalidShapeError when `out` is shorter than `values`.
 */
export function encodeArray<A extends TypedArray>(
  dtype: DType,
  values: ArrayLike<number>,
  out: A,
  overflow?: Overflow,
): A {
  checkLength(values, out);
  if (isSmallFloat(dtype)) encodeFloats(formats[dtype], values, out, overflow);
  else if (dtype === 'bool') {
    const { encode } = dtypeInfo.bool;
    for (let n = 0; n < values.length; n++) out[n] = encode(values[n]);
  } else out.set(values);
  return out;
}

function encodeFloats(
  format: FloatFormat,
  values: ArrayLike<number>,
  out: TypedArray,
  overflow: Overflow = format.overflow,
): void {
  if (values instanceof Float32Array) {
    const encode = encoderOf(format, overflow);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let n = 0; n < bits.length; n++) out[n] = encode(bits[n]);
    return;
  }
  const encode = valueEncoderOf(format, overflow);
  for (let n = 0; n < values.length; n++) out[n] = encode(values[n]);
}

/**
 * From an element as it is stored to its number, as `dtypeInfo` has it, but for many: small floats are looked
 * up.
 */
export function valueDecoder(dtype: DType): (stored: number) => number {
  if (!isSmallFloat(dtype)) return dtypeInfo[dtype].decode;
  const table = decodeTable(dtype);
  return stored => table[stored];
}

/** Rounds a number to f16, bf16 or f8 and back, to nearest even. @throws TypeError for other dtypes. */
export function rounder(dtype: DType): (value: number) => number {
  const encode = valueEncoder(dtype);
  const table = decodeTable(dtype);
  return value => table[encode(value)];
}

/** From a number to the bits of f16, bf16 or f8, to nearest even. @throws TypeError for other dtypes. */
export function valueEncoder(dtype: DType): (value: number) => number {
  const format = smallFormat(dtype);
  return valueEncoderOf(format, format.overflow);
}

function valueEncoderOf(format: FloatFormat, overflow: Overflow): (value: number) => number {
  const encode = encoderOf(format, overflow);
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  return value => {
    float[0] = value;
    if (float[0] !== value) {
      // Round to odd: towards zero, then the last bit set to say that something was cut off. An f32 has at
      // least two bits more than every format here, so rounding that to nearest even gives what rounding the
      // f64 itself would.
      if (Math.abs(float[0]) > Math.abs(value)) bits[0]--;
      bits[0] |= 1;
    }
    return encode(bits[0]);
  };
}

/**
 * From the bits of an f32 to those of f16, bf16 or f8, to nearest even. @throws TypeError for other dtypes.
 */
export function bitEncoder(dtype: DType): (bits: number) => number {
  const format = smallFormat(dtype);
  return encoderOf(format, format.overflow);
}

function smallFormat(dtype: DType): FloatFormat {
  if (!isSmallFloat(dtype)) throw new TypeError(`${dtype} is no float of 8 or 16 bits`);
  return formats[dtype];
}

/** Integer operations only. */
function encoderOf(format: FloatFormat, overflow: Overflow): (bits: number) => number {
  const { mantissaBits, bias, maxCode, nan } = format;
  const shift = 23 - mantissaBits;
  const half = (1 << (shift - 1)) - 1;
  const rebase = (127 - bias) << 23;
  const smallestNormal = (128 - bias) << 23;
  const subnormalShift = 151 - bias - mantissaBits;
  const signShift = 32 - format.bits;
  const signBit = 1 << (format.bits - 1);
  const beyond = overflow === 'saturate' ? maxCode : format.overflowCode;
  return bits => {
    const a = bits & 0x7fffffff;
    if (a > 0x7f800000) return nan;
    const sign = (bits >>> signShift) & signBit;
    if (a >= smallestNormal) {
      // A carry out of the mantissa moves on into the exponent, which is what it should do.
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

function checkLength(from: ArrayLike<number>, to: ArrayLike<number>): void {
  if (to.length < from.length) {
    throw new InvalidShapeError('out', `has ${to.length} elements, but ${from.length} are to be stored`);
  }
}
