import type { Tensor as HostTensor, SdpaOptions } from '@tilewise/core';
import { type GpuContext, type GpuTensor, sdpa } from '@tilewise/webgpu';
import type { Tensor } from 'onnxruntime-common';

/** The members of onnxruntime-web that this file uses, so that it does not import the package. */
interface Ort {
  readonly Tensor: {
    fromGpuBuffer(buffer: GPUBuffer, options: { dataType: 'float32'; dims: readonly number[] }): Tensor;
  };
}

/**
 * A tensor that a session left on the GPU (`preferredOutputLocation: 'gpu-buffer'`), on the same buffer. The
 * session must run on the device of the context: `executionProviders: [{ name: 'webgpu', device }]`.
 */
export function tensorOf(ctx: GpuContext, { gpuBuffer, dims }: Tensor): GpuTensor {
  return ctx.wrap(gpuBuffer as GPUBuffer, { shape: dims, dtype: 'f32' });
}

/** A tensor as an input of a session, on the same buffer; keep the tensor until the session has run. */
export function ortTensorOf(ort: Ort, { buffer, shape }: GpuTensor): Tensor {
  return ort.Tensor.fromGpuBuffer(buffer, { dataType: 'float32', dims: shape });
}

/** Attention (B, H, S, D) on a session's outputs, as an input of the next session. */
export function attention(
  ort: Ort,
  ctx: GpuContext,
  inputs: { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor },
  options: SdpaOptions<GpuTensor | HostTensor> = {},
): Tensor {
  const [q, k, v] = [inputs.q, inputs.k, inputs.v].map(t => tensorOf(ctx, t));
  const { o, lse } = sdpa(ctx, q, k, v, options);
  lse.destroy();
  return ortTensorOf(ort, o);
}
