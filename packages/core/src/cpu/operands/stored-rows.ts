import { bitEncoder } from '../../tensor/convert.ts';
import type { DType, TypedArray } from '../../tensor/dtype.ts';
import type { Kernels } from '../kernels/kernels.ts';

/** Rows of f32 as they are stored in another dtype. */
export interface StoredRows {
  /** Rows that are converted at once. */
  readonly atOnce: number;
  /**
   * Converts `count` rows from an address on, rows `width` numbers apart, and gives the index of the first
   * one in `values`.
   */
  convert(at: number, count: number): number;
  /** Row r is at the index that `convert` gave, plus r·`width`. */
  values(): TypedArray;
}

/**
 * A conversion of rows that are `width` numbers apart, a multiple of 8, and of so many at once where they are
 * not f32.
 */
export function createStoredRows(kernels: Kernels, dtype: DType, width: number, rows = 64): StoredRows {
  const { memory } = kernels;
  if (dtype === 'f32') {
    return { atOnce: Number.POSITIVE_INFINITY, convert: at => at >> 2, values: () => memory.f32 };
  }
  if (dtype === 'f16' || dtype === 'bf16') {
    const codes = memory.allocate(Uint16Array, rows * width);
    const encode = dtype === 'f16' ? kernels.encodeF16 : kernels.encodeBf16;
    return {
      atOnce: rows,
      convert(at, count) {
        encode(count * width, at, codes.at);
        return 0;
      },
      values: () => codes.values,
    };
  }
  const codes = new Uint8Array(rows * width);
  const encode = bitEncoder(dtype);
  return {
    atOnce: rows,
    convert(at, count) {
      const { i32 } = memory;
      for (let n = 0; n < count * width; n++) codes[n] = encode(i32[(at >> 2) + n]);
      return 0;
    },
    values: () => codes,
  };
}
