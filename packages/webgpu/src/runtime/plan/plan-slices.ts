import type { ByteRange } from '../../device/byte-range.ts';
import { type BufferSlice, type PlanTensor, sliceFor } from './plan-tensors.ts';

/** Where the tensors of a run start, by name. */
export type Slices = ReadonlyMap<string, BufferSlice>;

/** Whether the tensors of two runs start at the same places. */
export function sameSlices(a: Slices, b: Slices): boolean {
  for (const [name, { buffer, offset = 0 }] of a) {
    const other = b.get(name);
    if (other?.buffer !== buffer || (other.offset ?? 0) !== offset) return false;
  }
  return true;
}

/** The bytes of tensors. */
export function rangesOf(tensors: readonly PlanTensor[], slices: Slices): ByteRange[] {
  return tensors.map(({ name, bytes }) => {
    const { buffer, offset = 0 } = sliceFor(slices, name);
    return { buffer, offset, size: bytes };
  });
}
