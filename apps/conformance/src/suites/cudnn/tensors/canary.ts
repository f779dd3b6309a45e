import { type DType, dtypeInfo, type Tensor, type TypedArray } from '@tilewise/core';

/** Elements in front of and behind every tensor that belong to nobody. */
export const MARGIN = 512;

/**
 * A NaN of each float dtype, with a payload where there is room for one, so that another NaN written over it
 * is noticed.
 */
const nanBits: Readonly<Partial<Record<DType, number>>> = {
  f32: 0x7fc5a5a5,
  f16: 0x7e5a,
  bf16: 0x7fda,
  f8e4m3: 0x7f,
  f8e5m2: 0x7d,
  u8: 0xa5,
};

/** An array of a dtype that holds nothing but NaN (bytes: a pattern). */
export function poisoned(dtype: DType, length: number): TypedArray {
  const data = dtypeInfo[dtype].allocate(length);
  const bits = nanBits[dtype];
  if (bits === undefined) throw new Error(`${dtype} has no value that marks what may not be touched`);
  asBits(data).fill(bits);
  return data;
}

/**
 * How many elements outside of a tensor no longer hold what `poisoned` put there.
 * @param mayHold whether an element of the tensor, by its offset in the storage, may have been written.
 * Default: all.
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
