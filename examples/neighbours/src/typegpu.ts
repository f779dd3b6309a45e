import type { SdpaOptions, Tensor } from '@tilewise/core';
import { createContext, type GpuContext, type GpuTensor, sdpa } from '@tilewise/webgpu';

/** The members of a root and a buffer of TypeGPU that are used (an array of f32 with usage `storage`). */
interface Root {
  readonly device: GPUDevice;
  unwrap(buffer: object): GPUBuffer;
}

/** A context on the device of a root; `root.flush()`, where TypeGPU batches, comes before attention. */
export const contextOf = (root: Root): Promise<GpuContext> => createContext({ device: root.device });

/** A buffer of TypeGPU as a tensor, on the same memory. */
export function tensorOf(ctx: GpuContext, root: Root, buffer: object, shape: readonly number[]): GpuTensor {
  return ctx.wrap(root.unwrap(buffer), { shape, dtype: 'f32' });
}

/**
 * Attention (B, H, S, D) on buffers of TypeGPU. The buffer of the result is for
 * `root.createBuffer(schema, tensor.buffer)`, which makes it one of TypeGPU's; destroy the tensor at the end.
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
