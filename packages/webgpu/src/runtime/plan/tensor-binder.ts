import { type StorageBinding, tensorOf } from '../../codegen/shader-part.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { type BoundTensor, bindTensor } from './bind.ts';
import { type PlanLayout, tensorBytes } from './plan-layout.ts';
import type { Slices } from './plan-slices.ts';
import { type BufferSlice, sliceFor } from './plan-tensors.ts';

/** Binds the tensors of a plan to the buffers of a call. Empty tensors get small buffers as placeholders. */
export class TensorBinder {
  readonly #memory: GpuMemory;
  readonly #layout: PlanLayout;
  readonly #placeholders = new Map<string, GPUBuffer>();

  constructor(memory: GpuMemory, layout: PlanLayout) {
    this.#memory = memory;
    this.#layout = layout;
  }

  /** Binds elements [from, to) of a tensor. */
  bind(slices: Slices, binding: StorageBinding, [from, to]: readonly [number, number]): BoundTensor {
    const alignment = this.#memory.capabilities.minStorageBufferOffsetAlignment;
    const { elementBytes } = binding;
    const name = tensorOf(binding);
    const isEmpty = tensorBytes(this.#layout, binding) === 0;
    const given = isEmpty ? this.#placeholder(name) : sliceFor(slices, name);
    const region = (given.offset ?? 0) + (this.#layout.regions.get(name) ?? 0);
    const begin = isEmpty ? 0 : region + from * elementBytes;
    // An empty segment, like an empty tensor, may start at the very end of its buffer, where no binding is
    // possible.
    const canBind = begin < given.buffer.size || begin % alignment > 0;
    const { buffer } = canBind ? given : this.#placeholder(name);
    const start = canBind ? begin : 0;
    const own = bindTensor(binding, buffer, start, (to - from) * elementBytes, alignment);
    return { ...own, skipped: own.skipped - from * elementBytes };
  }

  destroy(): void {
    for (const buffer of this.#placeholders.values()) this.#memory.discard(buffer);
    this.#placeholders.clear();
  }

  #placeholder(name: string): BufferSlice {
    const buffer = this.#placeholders.get(name) ?? this.#memory.takeBuffer(16);
    this.#placeholders.set(name, buffer);
    return { buffer };
  }
}
