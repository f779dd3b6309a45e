import type { SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { type GpuContext, type GpuTensor, type SdpaVjp, sdpaVjp } from '@tilewise/webgpu';

/** The members of an array of jax-js that are used, so that this file does without the package. */
export interface JaxArray {
  readonly shape: readonly number[];
  readonly dtype: string;
  /** Another reference to the array: methods of jax-js use theirs up. */
  readonly ref: JaxArray;
  gpuBuffer(): Promise<GPUBuffer>;
}

const dtypes = { float32: 'f32', float16: 'f16' } as const;

/**
 * An array (B, S, H, D), as jax.nn.dotProductAttention takes it, as a tensor (B, H, S, D) on the same buffer.
 * jax-js must run on the device of the context, and keep a reference to the array for as long as the tensor
 * is used.
 * @throws Error for a dtype that attention does not have.
 */
export async function tensorOf(ctx: GpuContext, array: JaxArray): Promise<GpuTensor> {
  const { shape, dtype } = array;
  if (!(dtype in dtypes)) throw new Error(`attention takes float32 or float16, got ${dtype}`);
  const buffer = await array.ref.gpuBuffer();
  return ctx.wrap(buffer, { shape, dtype: dtypes[dtype as keyof typeof dtypes] }).permute(0, 2, 1, 3);
}

/** Flash attention on arrays of jax-js, forward now and backward later: see `sdpaVjp`. */
export async function jaxAttention(
  ctx: GpuContext,
  q: JaxArray,
  k: JaxArray,
  v: JaxArray,
  options: SdpaBackwardOptions<GpuTensor | Tensor, 'dq' | 'dk' | 'dv'> = {},
): Promise<SdpaVjp<'dq' | 'dk' | 'dv'>> {
  const [tq, tk, tv] = await Promise.all([q, k, v].map(array => tensorOf(ctx, array)));
  const results = sdpaVjp(ctx, tq, tk, tv, options);
  // jax-js submits its own work, which must not overtake a call whose kernels are being compiled.
  await ctx.submitted();
  return results;
}
