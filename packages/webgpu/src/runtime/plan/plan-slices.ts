import type { ByteRange } from '../../device/byte-range.ts';
import { GpuTensor } from '../memory/gpu-tensor.ts';
import { type BufferSlice, type PlanBuffer, type PlanTensor, sliceFor } from './plan-tensors.ts';

/** The slice of each tensor of a run, by name. */
export type Slices = ReadonlyMap<string, BufferSlice>;

/** Whether a caller passes the slices of an earlier run again: the same buffers at the same offsets. */
export function isGivenAgain(
  slices: readonly BufferSlice[],
  given: readonly (PlanBuffer | undefined)[],
): boolean {
  return slices.every(({ buffer, offset }, n) => {
    const slice = given[n] as BufferSlice | undefined;
    // The shape of a GpuTensor must be checked as well.
    return !(slice instanceof GpuTensor) && slice?.buffer === buffer && (slice.offset ?? 0) === offset;
  });
}

/** The byte ranges of tensors. */
export function rangesOf(tensors: readonly PlanTensor[], slices: Slices): ByteRange[] {
  return tensors.map(({ name, bytes }) => {
    const { buffer, offset = 0 } = sliceFor(slices, name);
    return { buffer, offset, size: bytes };
  });
}
