import type { SdpaOptions, Tensor } from '@tilewise/core';
import { createContext, type GpuContext, type GpuTensor, sdpa } from '@tilewise/webgpu';

/** The members of a TypeGPU root and buffer that this file uses (an f32 array with usage `storage`). */
interface Root {
  readonly device: GPUDevice;
  unwrap(buffer: object): GPUBuffer;
}

/** A context on a root's device. If TypeGPU batches commands, call `root.flush()` before attention. */
export const contextOf = (root: Root): Promise<GpuContext> => createContext({ device: root.device });

/** A TypeGPU buffer as a tensor, on the same memory. */
export function tensorOf(ctx: GpuContext, root: Root, buffer: object, shape: readonly number[]): GpuTensor {
  return ctx.wrap(root.unwrap(buffer), { shape, dtype: 'f32' });
}

/**
 * Attention (B, H, S, D) on TypeGPU buffers. `root.createBuffer(schema, tensor.buffer)` turns the result's
 * buffer into a TypeGPU buffer; destroy the tensor at the end.
 */
export function attention(
  ctx: GpuContext,
  root: Root,
  shape: readonly number[],
  { q, k, v }: { readonly q: object; readonly k: object; readonly v: object },
  options: SdpaOptions<GpuTensor | Tensor> = {},
): GpuTensor {
  const [tq, tk, tv] = [q, k, v].map(buffer => tensorOf(ctx, root, buffer, shape));
  const { o, lse } = sdpa(ctx, tq, tk, tv, options);
  lse.destroy();
  return o;
}
