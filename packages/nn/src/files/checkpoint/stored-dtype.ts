import type { DType } from '@tilewise/core';

/** How safetensors stores a dtype, and the dtype that it is read as. */
export interface StoredDType {
  /** The bytes of one element in the file. */
  readonly bytes: number;
  /** The dtype of the tensor that is read. */
  readonly dtype: DType;
  /**
   * Converts one element to `dtype` if the formats differ; returns undefined for a number that does not fit
   * into `dtype`.
   */
  readonly narrow?: (view: DataView, byteOffset: number) => number | undefined;
}

const largest = 2 ** 31 - 1;

/** 64-bit integers as i32: token ids and positions fit; larger numbers are refused. */
const narrowInteger = (value: bigint): number | undefined =>
  value >= -(2n ** 31n) && value <= BigInt(largest) ? Number(value) : undefined;

/** The dtypes of safetensors that are read. F64 and the packed formats of 4 and 6 bits are not. */
export const storedDTypes: Readonly<Record<string, StoredDType>> = {
  F32: { bytes: 4, dtype: 'f32' },
  F16: { bytes: 2, dtype: 'f16' },
  BF16: { bytes: 2, dtype: 'bf16' },
  F8_E4M3: { bytes: 1, dtype: 'f8e4m3' },
  F8_E5M2: { bytes: 1, dtype: 'f8e5m2' },
  I32: { bytes: 4, dtype: 'i32' },
  U32: { bytes: 4, dtype: 'u32' },
  I8: { bytes: 1, dtype: 'i8' },
  U8: { bytes: 1, dtype: 'u8' },
  BOOL: { bytes: 1, dtype: 'bool' },
  I16: { bytes: 2, dtype: 'i32', narrow: (view, at) => view.getInt16(at, true) },
  U16: { bytes: 2, dtype: 'i32', narrow: (view, at) => view.getUint16(at, true) },
  I64: { bytes: 8, dtype: 'i32', narrow: (view, at) => narrowInteger(view.getBigInt64(at, true)) },
  U64: { bytes: 8, dtype: 'i32', narrow: (view, at) => narrowInteger(view.getBigUint64(at, true)) },
};
