import type { TypedArray } from './dtype/dtype.ts';
import type { TensorDesc } from './tensor-desc.ts';

/**
 * The data of a `Tensor` without its methods. Code that only passes tensors on, or reads lists of numbers,
 * takes this type, so that it accepts tensors from any copy of this package and bundles none of their code.
 */
export interface HostArray extends TensorDesc {
  /** The storage; 16-bit and 8-bit floats are bit patterns (see `dtypeInfo`). */
  readonly data: TypedArray;
  /** The index of the first element in `data`. */
  readonly offset: number;
}

/** Whether a tensor's elements are on this host. */
export function isHostArray(t: unknown): t is HostArray {
  return typeof t === 'object' && t !== null && 'data' in t && ArrayBuffer.isView(t.data);
}

/** A vector of numbers. */
export function hostList(values: readonly number[], dtype: 'i32' | 'f32'): HostArray {
  const data = dtype === 'i32' ? Int32Array.from(values) : Float32Array.from(values);
  return { dtype, shape: [data.length], strides: [1], data, offset: 0 };
}

/** Element `index` of a tensor whose storage holds its values directly: f32 and integers. */
export function numberAt({ data, offset, strides }: HostArray, ...index: readonly number[]): number {
  return data[index.reduce((at, i, d) => at + i * strides[d], offset)];
}

/** The numbers of a vector, read with `numberAt`. */
export function numbersOf(list: HostArray): number[] {
  return Array.from({ length: list.shape[0] }, (_, n) => numberAt(list, n));
}
