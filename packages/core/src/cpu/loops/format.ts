import type { ExprType } from '../../expr/nodes/expr.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import type { LaneFunction } from '../kernels/interface/module-host.ts';
import type { FunctionWriter, ImportedFunction, Local } from './wasm/function-writer.ts';
import type { ValueType } from './wasm/opcodes.ts';

/**
 * How a loop reads or writes elements: a dtype, `f64` for sums, and `bits16` for codes of 16 bits that are
 * copied as they are.
 */
export type Format = 'f32' | 'f16' | 'bf16' | 'i32' | 'i8' | 'u8' | 'bool' | 'f64' | 'bits16';

export const formatBytes: Readonly<Record<Format, number>> = {
  ...{ f32: 4, i32: 4, f16: 2, bf16: 2, bits16: 2, i8: 1, u8: 1, bool: 1, f64: 8 },
};

/**
 * The type of the elements in a vector of a format. A vector of truth values has lanes of all ones and of
 * zeros.
 */
export function typeOfFormat(format: Format): ExprType {
  if (format === 'bool') return 'bool';
  return format === 'f32' || format === 'f16' || format === 'bf16' || format === 'f64' ? 'f32' : 'i32';
}

/** The format of a dtype; null for those that only the host reads. */
export function formatOf(dtype: DType): Format | null {
  return dtype === 'u32' || dtype === 'f8e4m3' || dtype === 'f8e5m2' ? null : dtype;
}

/** The format that copies elements bit by bit. */
export function copyFormat(bytes: number): Format {
  return bytes === 4 ? 'i32' : bytes === 2 ? 'bits16' : 'u8';
}

/** A function of four lanes, from the kernels. */
export function laneFunction(name: LaneFunction, ...parameters: ValueType[]): ImportedFunction {
  return {
    group: 'lanes',
    name,
    parameters: parameters.length > 0 ? parameters : ['v128'],
    result: 'v128',
  };
}

/** Loads four neighbouring elements from the address on the stack as codes, each in a lane. */
export function loadFour(w: FunctionWriter, format: Format, at: Local): void {
  switch (format) {
    case 'f32':
    case 'i32':
      w.get(at);
      w.vectorMemory('load');
      break;
    case 'f16':
    case 'bf16':
    case 'bits16':
      w.get(at);
      w.vectorMemory('load16x4U');
      break;
    case 'f64':
      for (const offset of [0, 16]) {
        w.get(at);
        w.vectorMemory('load', offset);
        w.vector('f32x4Demote');
      }
      w.vector('shuffle', 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      break;
    default:
      w.get(at);
      w.vectorMemory('load32Zero');
      w.vector(format === 'i8' ? 'i16x8ExtendLowS' : 'i16x8ExtendLowU');
      w.vector(format === 'i8' ? 'i32x4ExtendLowS' : 'i32x4ExtendLowU');
  }
}

/** Loads one element from the address on the stack as an i32 code. */
export function loadCode(w: FunctionWriter, format: Format): void {
  const bytes = formatBytes[format];
  w.memory(
    bytes === 4 ? 'i32Load' : bytes === 2 ? 'i32Load16U' : format === 'i8' ? 'i32Load8S' : 'i32Load8U',
  );
}

/** Loads one element from the address on the stack into all four lanes, as codes. */
export function loadOne(w: FunctionWriter, format: Format): void {
  if (formatBytes[format] === 4) w.vectorMemory('load32Splat');
  else if (format === 'f64') {
    w.memory('f64Load');
    w.scalar('f32Demote');
    w.vector('f32x4Splat');
  } else {
    loadCode(w, format);
    w.vector('i32x4Splat');
  }
}

/** Turns the codes on the stack into values of the format's type. */
export function decode(w: FunctionWriter, format: Format): void {
  if (format === 'f16') w.call(laneFunction('halfLanes'));
  else if (format === 'bf16') {
    w.i32(16);
    w.vector('i32x4Shl');
  } else if (format === 'bool') {
    w.splat(new Uint8Array(4));
    w.vector('i32x4Ne');
  }
}

/** Turns values of a type on the stack into codes of a format, rounded and saturated where need be. */
export function encode(w: FunctionWriter, from: ExprType, format: Format): void {
  if (format === 'bool') {
    if (from !== 'bool') {
      w.splat(new Uint8Array(4));
      w.vector(from === 'f32' ? 'f32x4Ne' : 'i32x4Ne');
    }
    w.splat(wordBytes(1));
    w.vector('and');
    return;
  }
  const to = typeOfFormat(format);
  if (to === 'f32') convert(w, from, 'f32');
  else if (from === 'f32') {
    w.vector('f32x4Nearest');
    w.vector('i32x4TruncSat');
  } else convert(w, from, 'i32');
  if (format === 'f16') w.call(laneFunction('toHalfLanes'));
  else if (format === 'bf16') w.call(laneFunction('toBf16Lanes'));
  else if (format === 'i8') clamp(w, -128, 127);
  else if (format === 'u8') clamp(w, 0, 255);
}

/** Stores the codes of a local in four neighbouring elements. */
export function storeFour(w: FunctionWriter, format: Format, at: Local, codes: Local): void {
  w.get(at, codes);
  const bytes = formatBytes[format];
  if (bytes === 4) {
    w.vectorMemory('store');
    return;
  }
  w.get(codes);
  w.vector(bytes === 2 ? 'i16x8NarrowU' : 'i16x8NarrowS');
  if (bytes === 2) {
    w.vectorMemory('store64Lane', 0, 0);
    return;
  }
  w.get(codes);
  w.vector(format === 'i8' ? 'i8x16NarrowS' : 'i8x16NarrowU');
  w.vectorMemory('store32Lane', 0, 0);
}

/** Stores the code in a lane of a local at an address. */
export function storeLane(w: FunctionWriter, format: Format, at: Local, codes: Local, lane: number): void {
  w.get(at, codes);
  w.vector('i32x4ExtractLane', lane);
  const bytes = formatBytes[format];
  w.memory(bytes === 4 ? 'i32Store' : bytes === 2 ? 'i32Store16' : 'i32Store8');
}

/** Turns values of one type on the stack into those of another; f32 becomes no integer here. */
export function convert(w: FunctionWriter, from: ExprType, to: ExprType): void {
  if (from === to) return;
  if (from === 'bool') {
    w.splat(to === 'f32' ? floatBytes(1) : wordBytes(1));
    w.vector('and');
  } else if (to === 'f32') w.vector('f32x4Convert');
}

function clamp(w: FunctionWriter, low: number, high: number): void {
  w.splat(wordBytes(low));
  w.vector('i32x4MaxS');
  w.splat(wordBytes(high));
  w.vector('i32x4MinS');
}

/** The bytes of an i32. */
export function wordBytes(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

/** The bytes of an f32. */
export function floatBytes(value: number): Uint8Array {
  return new Uint8Array(Float32Array.of(value).buffer);
}
