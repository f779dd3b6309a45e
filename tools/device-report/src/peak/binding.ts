import type { GpuTensor } from '@tilewise/webgpu';

/** The bytes of a contiguous f32 or f16 tensor, as a kernel binds them. */
export function bindingOf({ buffer, byteOffset, shape, dtype }: GpuTensor): Required<GPUBufferBinding> {
  const size = shape.reduce((n, extent) => n * extent, dtype === 'f16' ? 2 : 4);
  return { buffer, offset: byteOffset, size };
}
