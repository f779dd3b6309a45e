/*
 * The operations of `assembly/vector/half.ts`, and thus the same bits.
 */
import type { FunctionWriter } from './wasm/function-writer.ts';

/**
 * Converts f16 codes on the stack, one per lane, to f32. Exponent and mantissa move up by 13 bits, and 2^112
 * corrects the bias, in subnormals too.
 */
export function writeFloatOfHalf(w: FunctionWriter): void {
  const [code, magnitude] = [w.local('v128'), w.local('v128')];
  w.set(code).get(code).words(0x7fff).vector('and').set(magnitude);
  w.get(magnitude)
    .i32(13)
    .vector('i32x4Shl')
    .floats(2 ** 112)
    .vector('f32x4Mul');
  // Infinities and NaN keep the largest exponent.
  w.get(magnitude).words(0x7bff).vector('i32x4GtS').words(0x7f800000).vector('and').vector('or');
  w.get(code).words(0x8000).vector('and').i32(16).vector('i32x4Shl').vector('or');
}

/** Rounds f32 on the stack to f16 codes, to nearest even; values beyond the largest become infinite. */
export function writeHalfOfFloat(w: FunctionWriter): void {
  const [x, magnitude] = [w.local('v128'), w.local('v128')];
  w.set(x).get(x).words(0x7fffffff).vector('and').set(magnitude);
  // Normal numbers: a carry out of the mantissa correctly increments the exponent, which is 112 less in f16.
  w.get(magnitude, magnitude).i32(13).vector('i32x4ShrU').words(1).vector('and').vector('i32x4Add');
  w.words(0xfff - (112 << 23))
    .vector('i32x4Add')
    .i32(13)
    .vector('i32x4ShrU');
  w.words(0x7c00).vector('i32x4MinS');
  // Below 2^-14, adding 1/2 rounds to a multiple of 2^-24 and leaves the multiplier in the mantissa.
  w.get(magnitude).floats(0.5).vector('f32x4Add').floats(0.5).vector('i32x4Sub');
  w.get(magnitude).words(0x38800000).vector('i32x4GeS').vector('bitselect');
  w.get(x).i32(16).vector('i32x4ShrU').words(0x8000).vector('and').vector('or');
  w.words(0x7e00).get(x, x).vector('f32x4Eq').vector('bitselect');
}

/** Rounds f32 on the stack to bf16 codes, to nearest even; NaN becomes the quiet NaN without a sign. */
export function writeBf16OfFloat(w: FunctionWriter): void {
  const x = w.local('v128');
  w.set(x).get(x, x).i32(16).vector('i32x4ShrU').words(1).vector('and').vector('i32x4Add');
  w.words(0x7fff).vector('i32x4Add').i32(16).vector('i32x4ShrU');
  w.words(0x7fc0).get(x, x).vector('f32x4Eq').vector('bitselect');
}
