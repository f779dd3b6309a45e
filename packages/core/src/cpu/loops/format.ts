import type { ExprType } from '../../expr/nodes/expr.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import { writeBf16OfFloat, writeFloatOfHalf, writeHalfOfFloat } from './half.ts';
import type { FunctionWriter, Local } from './wasm/function-writer.ts';

/**
 * How a loop reads or writes elements: a dtype, `f64` for sums, or `bits16` for 16-bit codes that are copied
 * unchanged.
 */
export type Format = 'f32' | 'f16' | 'bf16' | 'i32' | 'i8' | 'u8' | 'bool' | 'f64' | 'bits16';

export const formatBytes: Readonly<Record<Format, number>> = {
  ...{ f32: 4, i32: 4, f16: 2, bf16: 2, bits16: 2, i8: 1, u8: 1, bool: 1, f64: 8 },
};

/**
 * The type of the elements in a vector of a format. A vector of booleans has lanes of all ones or all zeros.
 */
export function typeOfFormat(format: Format): ExprType {
  if (format === 'bool') return 'bool';
  return format === 'f32' || format === 'f16' || format === 'bf16' || format === 'f64' ? 'f32' : 'i32';
}

/** The format of a dtype; null for dtypes that only the host reads. */
export function formatOf(dtype: DType): Format | null {
  return dtype === 'u32' || dtype === 'f8e4m3' || dtype === 'f8e5m2' ? null : dtype;
}

/** The format that copies elements bit by bit. */
export function copyFormat(bytes: number): Format {
  return bytes === 4 ? 'i32' : bytes === 2 ? 'bits16' : 'u8';
}

/** Loads four neighbouring elements from an address as codes, one per lane. */
export function loadFour(w: FunctionWriter, format: Format, at: Local): void {
  const bytes = formatBytes[format];
  if (bytes === 4) w.get(at).vectorMemory('load');
  else if (bytes === 2) w.get(at).vectorMemory('load16x4U');
  else if (format === 'f64') {
    for (const offset of [0, 16]) w.get(at).vectorMemory('load', offset).vector('f32x4Demote');
    w.vector('shuffle', 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  } else {
    w.get(at).vectorMemory('load32Zero');
    if (format === 'i8') w.vector('i16x8ExtendLowS').vector('i32x4ExtendLowS');
    else w.vector('i16x8ExtendLowU').vector('i32x4ExtendLowU');
  }
}

/** Loads one element from the address on the stack as an i32 code. */
export function loadCode(w: FunctionWriter, format: Format): FunctionWriter {
  const bytes = formatBytes[format];
  if (bytes > 1) return w.memory(bytes === 4 ? 'i32Load' : 'i32Load16U');
  return w.memory(format === 'i8' ? 'i32Load8S' : 'i32Load8U');
}

/** Loads one element from the address on the stack into all four lanes, as codes. */
export function loadOne(w: FunctionWriter, format: Format): void {
  if (formatBytes[format] === 4) w.vectorMemory('load32Splat');
  else if (format === 'f64') w.memory('f64Load').scalar('f32Demote').vector('f32x4Splat');
  else loadCode(w, format).vector('i32x4Splat');
}

/** Converts codes of a format on the stack to values of a type. */
export function decode(w: FunctionWriter, format: Format, to: ExprType): void {
  if (format === 'f16') writeFloatOfHalf(w);
  else if (format === 'bf16') w.i32(16).vector('i32x4Shl');
  else if (format === 'bool') w.words(0).vector('i32x4Ne');
  convert(w, typeOfFormat(format), to);
}

/** Converts values of a type on the stack to codes of a format, rounding and saturating if needed. */
export function encode(w: FunctionWriter, from: ExprType, format: Format): void {
  if (format === 'bool') {
    if (from !== 'bool') w.words(0).vector(from === 'f32' ? 'f32x4Ne' : 'i32x4Ne');
    w.words(1).vector('and');
    return;
  }
  const to = typeOfFormat(format);
  if (to === 'i32' && from === 'f32') w.vector('f32x4Nearest').vector('i32x4TruncSat');
  else convert(w, from, to);
  if (format === 'f16') writeHalfOfFloat(w);
  else if (format === 'bf16') writeBf16OfFloat(w);
  else if (format === 'i8') clamp(w, -128, 127);
  else if (format === 'u8') clamp(w, 0, 255);
}

/** Stores the codes in a local to four neighbouring elements. */
export function storeFour(w: FunctionWriter, format: Format, at: Local, codes: Local): void {
  const bytes = formatBytes[format];
  w.get(at, codes);
  if (bytes === 4) w.vectorMemory('store');
  else if (bytes === 2) w.get(codes).vector('i16x8NarrowU').vectorMemory('store64Lane', 0, 0);
  else {
    w.get(codes).vector('i16x8NarrowS').get(codes);
    w.vector(format === 'i8' ? 'i8x16NarrowS' : 'i8x16NarrowU').vectorMemory('store32Lane', 0, 0);
  }
}

/** Stores the code in one lane of a local at an address. */
export function storeLane(w: FunctionWriter, format: Format, at: Local, codes: Local, lane: number): void {
  const bytes = formatBytes[format];
  w.get(at, codes).vector('i32x4ExtractLane', lane);
  w.memory(bytes === 4 ? 'i32Store' : bytes === 2 ? 'i32Store16' : 'i32Store8');
}

/** Converts values on the stack from one type to another; this function does not convert f32 to integers. */
export function convert(w: FunctionWriter, from: ExprType, to: ExprType): void {
  if (from === to) return;
  if (from === 'bool') (to === 'f32' ? w.floats(1) : w.words(1)).vector('and');
  else if (to === 'f32') w.vector('f32x4Convert');
}

function clamp(w: FunctionWriter, low: number, high: number): void {
  w.words(low).vector('i32x4MaxS').words(high).vector('i32x4MinS');
}
