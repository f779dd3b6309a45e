import {
  type Fp8Scalars,
  fp8ScalarNames,
  type HostArray,
  InvalidArgumentError,
  isHostArray,
  numberAt,
} from '@tilewise/core';
import { bufferUsage } from '../device/constants.ts';
import type { GpuContext } from '../device/context.ts';
import { GpuTensor } from '../device/gpu-tensor.ts';
import { type AmaxName, amaxNames, amaxPlace, fp8ListLength } from './fp8.ts';

/** Bytes of the list `fp8`. */
export const fp8ListBytes: number = 4 * fp8ListLength;

/**
 * The scalars of a call that are on the GPU, checked, by the names of their options.
 * @throws InvalidArgumentError for one that cannot be copied from.
 */
export function fp8GpuScalars(
  ctx: GpuContext,
  scalars: Fp8Scalars<GpuTensor | HostArray>,
): [string, GpuTensor][] {
  return fp8ScalarNames.flatMap(name => {
    const scalar = scalars[name];
    if (!(scalar instanceof GpuTensor)) return [];
    const argument = `fp8.${name}`;
    if (!(ctx.checkOwn(argument, scalar).buffer.usage & bufferUsage.COPY_SRC))
      throw new InvalidArgumentError(argument, 'must be in a buffer with the usage COPY_SRC');
    return [[argument, scalar]];
  });
}

/** Records how the list `fp8` of a call is filled: numbers from the host, scalars on the GPU by copies, largest values 0. */
export function fillFp8List(
  { device }: GpuContext,
  encoder: GPUCommandEncoder,
  list: GPUBuffer,
  scalars: Fp8Scalars<GpuTensor | HostArray> | undefined,
): void {
  const values = new Float32Array(fp8ListLength);
  if (scalars)
    for (const [n, name] of fp8ScalarNames.entries()) {
      const scalar = scalars[name];
      if (isHostArray(scalar)) values[n] = numberAt(scalar);
      else encoder.copyBufferToBuffer(scalar.buffer, scalar.byteOffset, list, 4 * n, 4);
    }
  device.queue.writeBuffer(list, 0, values);
}

/** Records how largest values go from the list to results of their names, where there are such. */
export function readFp8List(
  encoder: GPUCommandEncoder,
  list: GPUBuffer,
  results: readonly { readonly name: string; readonly buffer: GPUBuffer }[],
): void {
  const isAmax = (name: string): name is AmaxName => (amaxNames as readonly string[]).includes(name);
  for (const { name, buffer } of results) {
    if (isAmax(name)) encoder.copyBufferToBuffer(list, 4 * amaxPlace(name), buffer, 0, 4);
  }
}
