import { bindingStep } from '../../codegen/binding-limits/dispatch-splits.ts';
import { type StorageBinding, tensorOf } from '../../codegen/shader-part.ts';
import type { ByteRange } from '../../device/byte-range.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { type PlanLayout, tensorBytes } from './plan-layout.ts';
import type { Slices } from './plan-slices.ts';
import { sliceFor } from './plan-tensors.ts';

/** A tensor as a kernel binds it. The tensor starts `skipped` bytes into the bound range. */
export interface BoundTensor {
  readonly binding: StorageBinding;
  readonly skipped: number;
  readonly bytes: number;
  readonly resource: ByteRange;
}

/**
 * Binds elements [from, to) of a tensor of a plan to the slice that a call gives for the tensor. The bound
 * range starts at a multiple of the device's offset alignment. An empty tensor gets a placeholder of the
 * context.
 */
export function bindSlice(
  memory: GpuMemory,
  layout: PlanLayout,
  slices: Slices,
  binding: StorageBinding,
  [from, to]: readonly [number, number],
): BoundTensor {
  const alignment = memory.capabilities.minStorageBufferOffsetAlignment;
  const name = tensorOf(binding);
  const first = from * binding.elementBytes;
  const bytes = to * binding.elementBytes - first;
  let given: GPUBuffer | undefined;
  let start = 0;
  if (tensorBytes(layout, binding) > 0) {
    const { buffer, offset = 0 } = sliceFor(slices, name);
    start = offset + (layout.regions.get(name) ?? 0) + first;
    // An empty segment, like an empty tensor, may start at the very end of its buffer, where no binding is
    // possible.
    if (start < buffer.size || start % alignment > 0) given = buffer;
    else start = 0;
  }
  const buffer = given ?? memory.placeholder(name);
  const offset = Math.floor(start / alignment) * alignment;
  const rounded = Math.ceil((start + Math.max(bytes, 1)) / bindingStep) * bindingStep;
  const end = Math.min(rounded, Math.floor(buffer.size / 4) * 4);
  return {
    ...{ binding, bytes, skipped: start - offset - first },
    resource: { buffer, offset, size: end - offset },
  };
}
