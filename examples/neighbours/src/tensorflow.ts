import type { customGrad, Tensor, Tensor4D, tensor } from '@tensorflow/tfjs';
import type { Tensor as HostTensor, SdpaBackwardOptions } from '@tilewise/core';
import { type GpuContext, type GpuTensor, sdpaVjp } from '@tilewise/webgpu';

/** The members of TensorFlow.js and of its WebGPU backend that this file uses. */
interface Tf {
  readonly customGrad: typeof customGrad;
  readonly tensor: typeof tensor;
  backend(): object;
}
interface Backend {
  readonly tensorMap: { get(id: object): { readonly resource?: unknown } };
  uploadToGPU(id: object): void;
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
}

/**
 * The tensor of a TensorFlow.js tensor's own buffer, without the copy that `dataToGPU` makes. TensorFlow.js
 * still owns the buffer.
 */
function tensorOf(ctx: GpuContext, tf: Tf, { dataId, shape }: Tensor): GpuTensor {
  const backend = tf.backend() as Backend;
  backend.uploadToGPU(dataId);
  return ctx.wrap(backend.tensorMap.get(dataId).resource as GPUBuffer, { shape, dtype: 'f32' });
}

/**
 * TensorFlow.js batches commands; this submits them, because attention must run after the commands that
 * compute its inputs.
 */
function submitPending(tf: Tf): void {
  const backend = tf.backend() as Backend;
  backend.ensureCommandEncoderReady();
  backend.endComputePassEncoder();
  backend.submitQueue();
}

/** A result as a TensorFlow.js tensor, on the same buffer. */
function tfTensorOf(tf: Tf, { buffer, shape }: GpuTensor): Tensor4D {
  return tf.tensor({ buffer, zeroCopy: true }, shape as [number, number, number, number], 'float32');
}

/**
 * Attention (B, H, S, D) with a gradient, for `tf.grad` and training, on the device of the backend. The
 * context owns the results: TensorFlow.js does not free their memory, `ctx.destroy()` does.
 */
export function attention(
  tf: Tf,
  ctx: GpuContext,
  options: SdpaBackwardOptions<GpuTensor | HostTensor, 'dq' | 'dk' | 'dv'> = {},
): (q: Tensor, k: Tensor, v: Tensor) => Tensor {
  return tf.customGrad((...args) => {
    const [q, k, v] = args.slice(0, 3).map(x => tensorOf(ctx, tf, x as Tensor));
    submitPending(tf);
    const { o, backward } = sdpaVjp(ctx, q, k, v, options);
    return {
      value: tfTensorOf(tf, o),
      gradFunc: (given: Tensor) => {
        const dO = tensorOf(ctx, tf, given);
        submitPending(tf);
        const { dq, dk, dv } = backward(dO);
        return [dq, dk, dv].map(t => tfTensorOf(tf, t));
      },
    };
  });
}
