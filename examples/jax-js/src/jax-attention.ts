import type { SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { type GpuContext, type GpuTensor, type SdpaVjp, sdpaVjp } from '@tilewise/webgpu';

/** The members of a jax-js array that this file uses, so that it does not import the package. */
export interface JaxArray {
  readonly shape: readonly number[];
  readonly dtype: string;
  /** Another reference to the array, because methods of jax-js consume their reference. */
  readonly ref: JaxArray;
  gpuBuffer(): Promise<GPUBuffer>;
}

const dtypes = { float32: 'f32', float16: 'f16' } as const;

/**
 * An array (B, S, H, D), as jax.nn.dotProductAttention takes it, as a tensor (B, H, S, D) on the same buffer.
 * jax-js must run on the device of the context, and must keep a reference to the array as long as the tensor
 * is in use.
 * @throws Error for a dtype that attention does not support.
 */
export async function tensorOf(ctx: GpuContext, array: JaxArray): Promise<GpuTensor> {
  const { shape, dtype } = array;
  if (!(dtype in dtypes)) throw new Error(`attention takes float32 or float16, got ${dtype}`);
  const buffer = await array.ref.gpuBuffer();
  return ctx.wrap(buffer, { shape, dtype: dtypes[dtype as keyof typeof dtypes] }).permute(0, 2, 1, 3);
}

/**
 * Flash attention on jax-js arrays: computes forward now and returns a function for backward, like `sdpaVjp`.
 */
export async function jaxAttention(
  ctx: GpuContext,
  q: JaxArray,
  k: JaxArray,
  v: JaxArray,
  options: SdpaBackwardOptions<GpuTensor | Tensor, 'dq' | 'dk' | 'dv'> = {},
): Promise<SdpaVjp<'dq' | 'dk' | 'dv'>> {
  const [tq, tk, tv] = await Promise.all([q, k, v].map(array => tensorOf(ctx, array)));
  const results = sdpaVjp(ctx, tq, tk, tv, options);
  // jax-js submits its own work, which must not overtake a call whose kernels are still being compiled.
  await ctx.submitted();
  return results;
}
