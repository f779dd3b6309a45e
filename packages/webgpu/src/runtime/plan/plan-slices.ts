import type { ByteRange } from '../../device/byte-range.ts';
import { GpuTensor } from '../memory/gpu-tensor.ts';
import { type BufferSlice, type PlanBuffer, type PlanTensor, sliceFor } from './plan-tensors.ts';

/** Where the tensors of a run start, by name. */
export type Slices = ReadonlyMap<string, BufferSlice>;

/** Whether the tensors of a run are given for another one, as slices of the same buffers. */
export function isGivenAgain(slices: Slices, given: Readonly<Record<string, PlanBuffer>>): boolean {
  for (const [name, { buffer, offset = 0 }] of slices) {
    const slice = given[name] as BufferSlice | undefined;
    // A tensor's shape is to be checked besides.
    if (slice instanceof GpuTensor || slice?.buffer !== buffer || (slice.offset ?? 0) !== offset)
      return false;
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
