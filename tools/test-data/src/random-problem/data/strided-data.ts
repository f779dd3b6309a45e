import { type DataType, type StoredArray, storages } from './storage.ts';

/**
 * A tensor as plain data: `data[offset + Σ index[d]·strides[d]]`; floats below 32 bits as bit patterns, bool
 * as 0 and 1.
 */
export interface StridedData {
  readonly dtype: DataType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
  readonly data: StoredArray;
}

export interface StridedOptions {
  readonly dtype: DataType;
  readonly strides?: readonly number[];
  readonly offset?: number;
  /** The value between the elements; default 0. */
  readonly gaps?: number;
}

/** Row-major strides without gaps. */
export function wholeStrides(shape: readonly number[]): number[] {
  return shape.map((_, d) => shape.slice(d + 1).reduce((n, extent) => n * extent, 1));
}

/** A tensor with the elements `values(index)`. */
export function strided(
  shape: readonly number[],
  { dtype, strides = wholeStrides(shape), offset = 0, gaps = 0 }: StridedOptions,
  values: (index: readonly number[]) => number,
): StridedData {
  const { allocate, encode, round } = storages[dtype];
  const empty = shape.includes(0);
  const span = empty ? 0 : 1 + shape.reduce((last, extent, d) => last + (extent - 1) * strides[d], 0);
  const data = allocate(offset + span).fill(encode(gaps));
  const index = shape.map(() => 0);
  const fill = (d: number, at: number): void => {
    if (d === shape.length) {
      const x = values(index);
      data[at] = encode(Number.isFinite(x) ? round(x) : x);
      return;
    }
    for (let n = 0; n < shape[d]; n++) {
      index[d] = n;
      fill(d + 1, at + n * strides[d]);
    }
  };
  if (!empty) fill(0, offset);
  return { dtype, shape, strides, offset, data };
}

export function isStridedData(value: unknown): value is StridedData {
  return typeof value === 'object' && value !== null && 'strides' in value && 'data' in value;
}
