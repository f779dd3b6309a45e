import { InvalidShapeError } from '../../errors.ts';
import { decodeTable } from './decode-table.ts';
import { type DType, dtypeInfo, type TypedArray } from './dtype.ts';
import { bitEncoder, valueEncoder } from './float-encoder.ts';
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
 * Decodes elements stored as `dtype` into numbers. Exact, except that i32 and u32 beyond 2²⁴ are rounded if
 * `out` is a Float32Array.
 * @throws InvalidShapeError if `out` is shorter than `data`.
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
 * wrap around as in typed arrays; a bool is 1 for any number but 0.
 * @param out an array of the type that stores `dtype`.
 * @param overflow how to treat a number beyond the largest finite one of f16, bf16 or f8; default: that of
 * `FloatFormat`.
 * @throws InvalidShapeError if `out` is shorter than `values`.
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
  overflow?: Overflow,
): void {
  if (values instanceof Float32Array) {
    const encode = bitEncoder(format, overflow);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let n = 0; n < bits.length; n++) out[n] = encode(bits[n]);
    return;
  }
  const encode = valueEncoder(format, overflow);
  for (let n = 0; n < values.length; n++) out[n] = encode(values[n]);
}

/**
 * Decodes a stored element to its number like `dtypeInfo`, but for many elements: small floats are looked up
 * in a table.
 */
export function valueDecoder(dtype: DType): (stored: number) => number {
  if (!isSmallFloat(dtype)) return dtypeInfo[dtype].decode;
  const table = decodeTable(dtype);
  return stored => table[stored];
}

/** Rounds a number to f16, bf16 or f8 and back, to nearest even. @throws TypeError for other dtypes. */
export function rounder(dtype: DType): (value: number) => number {
  const encode = valueEncoder(smallFormat(dtype));
  const table = decodeTable(dtype);
  return value => table[encode(value)];
}

/**
 * Encodes the bits of an f32 as bits of f16, bf16 or f8, to nearest even. @throws TypeError for other dtypes.
 */
export function encoderOf(dtype: DType): (bits: number) => number {
  return bitEncoder(smallFormat(dtype));
}

function smallFormat(dtype: DType): FloatFormat {
  if (!isSmallFloat(dtype)) throw new TypeError(`${dtype} is not a float of 8 or 16 bits`);
  return formats[dtype];
}

function checkLength(from: ArrayLike<number>, to: ArrayLike<number>): void {
  if (to.length < from.length) {
    throw new InvalidShapeError('out', `has ${to.length} elements, but must hold ${from.length}`);
  }
}
