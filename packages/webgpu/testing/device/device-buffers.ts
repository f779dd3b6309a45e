import { openGpu } from '@tilewise/webgpu-host';

const storage = 0x80 | 0x8 | 0x4; // STORAGE, COPY_DST, COPY_SRC

/** A device as a caller might bring it: without any feature or limit beyond what WebGPU guarantees. */
export async function callersDevice(): Promise<GPUDevice> {
  const { adapter } = await openGpu();
  return adapter.requestDevice();
}

/** A storage buffer with a given size or content (whole words). */
export function storageBuffer(device: GPUDevice, content: number | ArrayBufferView): GPUBuffer {
  if (typeof content === 'number') return device.createBuffer({ size: content, usage: storage });
  const buffer = device.createBuffer({ size: Math.ceil(content.byteLength / 4) * 4, usage: storage });
  device.queue.writeBuffer(buffer, 0, content.buffer, content.byteOffset, content.byteLength);
  return buffer;
}

/** The bytes of a buffer. */
export async function readBuffer(device: GPUDevice, buffer: GPUBuffer): Promise<Uint8Array<ArrayBuffer>> {
  const staging = device.createBuffer({ size: buffer.size, usage: 0x1 | 0x8 }); // MAP_READ, COPY_DST
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  const bytes = new Uint8Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return bytes;
}

/** Runs GPU calls, and returns the validation error that they cause, or null. */
export async function validationError(device: GPUDevice, run: () => void): Promise<string | null> {
  device.pushErrorScope('validation');
  run();
  return (await device.popErrorScope())?.message ?? null;
}
