import { type Fp8Scalars, fp8ScalarNames, InvalidArgumentError } from '@tilewise/core';
import { type HostArray, isHostArray, numberAt } from '@tilewise/core/engine';
import { type AmaxName, amaxIndex, amaxNames, fp8ListLength } from '../../attention/config/fp8-steps.ts';
import { bufferUsage } from '../../device/webgpu-flags.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { CallList } from '../../runtime/eager-call.ts';
import type { GpuTensor } from '../../runtime/memory/gpu-tensor.ts';

/**
 * The list `fp8` of a call: it is filled with the call's scalars, and the results named amax… are copied from
 * it. Without scalars, as in MXFP8, the list has the same length.
 * @throws InvalidArgumentError for a scalar in a GPU buffer without the usage COPY_SRC.
 */
export function fp8List(ctx: GpuContext, scalars: Fp8Scalars<GpuTensor | HostArray> | undefined): CallList {
  return {
    name: 'fp8',
    bytes: 4 * fp8ListLength,
    sources: scalars ? scalarsOnGpu(ctx, scalars) : [],
    fill(encoder, list) {
      const values = new Float32Array(fp8ListLength);
      if (scalars)
        for (const [n, name] of fp8ScalarNames.entries()) {
          const scalar = scalars[name];
          if (isHostArray(scalar)) values[n] = numberAt(scalar);
          else encoder.copyBufferToBuffer(scalar.buffer, scalar.byteOffset, list, 4 * n, 4);
        }
      ctx.device.queue.writeBuffer(list, 0, values);
    },
    read(encoder, list, results) {
      for (const { name, buffer } of results) {
        if (isAmax(name)) encoder.copyBufferToBuffer(list, 4 * amaxIndex(name), buffer, 0, 4);
      }
    },
  };
}

const isAmax = (name: string): name is AmaxName => (amaxNames as readonly string[]).includes(name);

/** The scalars that are on the GPU, checked. */
function scalarsOnGpu(ctx: GpuContext, scalars: Fp8Scalars<GpuTensor | HostArray>): GpuTensor[] {
  return fp8ScalarNames.flatMap(name => {
    const scalar = scalars[name];
    if (isHostArray(scalar)) return [];
    const argument = `fp8.${name}`;
    if (!(ctx.checkOwn(argument, scalar).buffer.usage & bufferUsage.COPY_SRC))
      throw new InvalidArgumentError(argument, 'must be in a buffer with the usage COPY_SRC');
    return [scalar];
  });
}
