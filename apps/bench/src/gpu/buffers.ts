import type { Tensor } from '@tilewise/core';
import { mapRead, usage } from './usage.ts';

/** A storage buffer with a tensor's data, padded to whole vectors. */
export function bufferOf(device: GPUDevice, { data }: Tensor): GPUBuffer {
  const buffer = emptyBuffer(device, data.byteLength);
  const bytes = new Uint8Array(Math.ceil(data.byteLength / 4) * 4);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  device.queue.writeBuffer(buffer, 0, bytes);
  return buffer;
}

export function emptyBuffer(device: GPUDevice, bytes: number): GPUBuffer {
  const size = Math.max(16, Math.ceil(bytes / 16) * 16);
  return device.createBuffer({
    size,
    usage: usage.STORAGE | usage.COPY_DST | usage.COPY_SRC,
  });
}

/** The bytes of a buffer, from the start. */
export async function readBuffer(device: GPUDevice, buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
  const size = Math.ceil(bytes / 4) * 4;
  const staging = device.createBuffer({ size, usage: usage.MAP_READ | usage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(mapRead);
  const content = staging.getMappedRange().slice(0, bytes);
  staging.destroy();
  return content;
}

/** The bytes of inputs beyond which no input is still in a cache when its turn comes again. */
const beyondCaches = 256 * 2 ** 20;

/** How many copies of inputs of this size to use in turn; at most 16, so that small inputs stay small. */
export const copiesBeyondCaches = (bytes: number): number =>
  Math.max(1, Math.min(16, Math.ceil(beyondCaches / bytes)));
