import { InvalidArgumentError } from '@tilewise/core';
import type { KernelSpec } from './kernel-spec.ts';
import type { StorageBinding } from './shader-part.ts';

/** A tensor as a kernel binds it: it starts `skipped` bytes into the bound range. */
export interface BoundTensor {
  readonly binding: StorageBinding;
  readonly skipped: number;
  readonly resource: { readonly buffer: GPUBuffer; readonly offset: number; readonly size: number };
}

/** The range to bind for a tensor of `bytes` bytes from `start` on: bindings start at multiples of `coarse`. */
export function bindTensor(
  binding: StorageBinding,
  buffer: GPUBuffer,
  start: number,
  bytes: number,
  coarse: number,
): BoundTensor {
  const offset = Math.floor(start / coarse) * coarse;
  const end = Math.min(Math.ceil((start + Math.max(bytes, 1)) / 16) * 16, Math.floor(buffer.size / 4) * 4);
  return { binding, skipped: start - offset, resource: { buffer, offset, size: end - offset } };
}

/**
 * WebGPU lets a kernel write to a buffer that it also reads, or twice, only through ranges apart from each other.
 * @throws InvalidArgumentError naming both tensors; the GPU itself would say it later, and to nobody.
 */
export function checkAliasing({ name: kernel }: KernelSpec, tensors: readonly BoundTensor[]): void {
  for (const written of tensors.filter(({ binding }) => binding.access === 'read_write')) {
    for (const other of tensors) {
      if (other === written || other.resource.buffer !== written.resource.buffer) continue;
      const names = [written.binding.name, other.binding.name] as const;
      if (other.binding.access === 'read') {
        throw new InvalidArgumentError(
          `buffers.${names[0]}`,
          `must be in another buffer than buffers.${names[1]}, which the kernel '${kernel}' reads`,
        );
      }
      if (overlap(written, other)) {
        throw new InvalidArgumentError(
          `buffers.${names[0]}`,
          `must not share bytes with buffers.${names[1]}, which the kernel '${kernel}' writes too; ` +
            'in one buffer, both start at multiples of the offset alignment (256 bytes)',
        );
      }
    }
  }
}

function overlap({ resource: a }: BoundTensor, { resource: b }: BoundTensor): boolean {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}
