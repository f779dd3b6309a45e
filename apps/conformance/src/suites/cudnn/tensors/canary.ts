import { type DType, dtypeInfo, type Tensor, type TypedArray } from '@tilewise/core';

/** The number of unused elements before and after every tensor. */
export const MARGIN = 512;

/**
 * A NaN of each float dtype, with a payload if the dtype has room for one, so that overwriting it with
 * another NaN is noticed.
 */
const nanBits: Readonly<Partial<Record<DType, number>>> = {
  f32: 0x7fc5a5a5,
  f16: 0x7e5a,
  bf16: 0x7fda,
  f8e4m3: 0x7f,
  f8e5m2: 0x7d,
  u8: 0xa5,
};

/** An array of a dtype that contains only NaN (bytes: a pattern). */
export function poisoned(dtype: DType, length: number): TypedArray {
  const data = dtypeInfo[dtype].allocate(length);
  const bits = nanBits[dtype];
  if (bits === undefined) throw new Error(`${dtype} has no value for memory that must not be written`);
  asBits(data).fill(bits);
  return data;
}

/**
 * Counts the elements of a tensor's storage, other than the tensor's own, that no longer hold the value from
 * `poisoned`.
 * @param offsets the storage offsets of the tensor's own elements.
 */
export function damage(tensor: Tensor, offsets: Iterable<number>): number {
  const { data, dtype } = tensor;
  const owned = new Uint8Array(data.length);
  for (const at of offsets) owned[at] = 1;
  const bits = asBits(data);
  const expected = nanBits[dtype];
  let changed = 0;
  for (let at = 0; at < bits.length; at++) if (!owned[at] && bits[at] !== expected) changed++;
  return changed;
}

/** The stored bits: only an f32 array is not an array of bits already. */
function asBits(data: TypedArray): Exclude<TypedArray, Float32Array> {
  return data instanceof Float32Array ? new Uint32Array(data.buffer, data.byteOffset, data.length) : data;
}
