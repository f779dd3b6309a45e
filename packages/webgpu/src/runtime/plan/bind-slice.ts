import { type StorageBinding, tensorOf } from '../../codegen/shader-part.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { type BoundTensor, bindTensor } from './bind.ts';
import { type PlanLayout, tensorBytes } from './plan-layout.ts';
import type { Slices } from './plan-slices.ts';
import { sliceFor } from './plan-tensors.ts';

/**
 * Binds elements [from, to) of a tensor of a plan to the slice that a call gives for the tensor. An empty
 * tensor gets a placeholder of the context.
 */
export function bindSlice(
  memory: GpuMemory,
  layout: PlanLayout,
  slices: Slices,
  binding: StorageBinding,
  [from, to]: readonly [number, number],
): BoundTensor {
  const alignment = memory.capabilities.minStorageBufferOffsetAlignment;
  const { elementBytes } = binding;
  const name = tensorOf(binding);
  let buffer: GPUBuffer | undefined;
  let start = 0;
  if (tensorBytes(layout, binding) > 0) {
    const given = sliceFor(slices, name);
    start = (given.offset ?? 0) + (layout.regions.get(name) ?? 0) + from * elementBytes;
    // An empty segment, like an empty tensor, may start at the very end of its buffer, where no binding is
    // possible.
    if (start < given.buffer.size || start % alignment > 0) buffer = given.buffer;
    else start = 0;
  }
  const own = bindTensor(
    binding,
    buffer ?? memory.placeholder(name),
    start,
    (to - from) * elementBytes,
    alignment,
  );
  return { ...own, skipped: own.skipped - from * elementBytes };
}
