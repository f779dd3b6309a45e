import { dtypeInfo, Tensor } from '@tilewise/core';
import type { BufferSlice } from '@tilewise/webgpu';

// Node has no globals for these flags of WebGPU.
const usage = { mapRead: 0x1, copySource: 0x4, copyTarget: 0x8, storage: 0x80 } as const;
const mapForReading = 1;

/** Buffers of one run, freed together. */
export class GpuMemory {
  readonly #device: GPUDevice;
  readonly #buffers: GPUBuffer[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** The whole storage of a tensor, including gaps and margins; the slice starts at its first element. */
  upload({ data, dtype, offset }: Tensor): BufferSlice {
    const bytes = new Uint8Array(wholeWords(data.byteLength));
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const buffer = this.#create(bytes.length, usage.storage | usage.copySource | usage.copyTarget);
    this.#device.queue.writeBuffer(buffer, 0, bytes);
    return { buffer, offset: offset * dtypeInfo[dtype].bytes };
  }

  scratch(bytes: number): BufferSlice {
    return { buffer: this.#create(wholeWords(bytes), usage.storage) };
  }

  /** The current content of the storage that `upload` sent, as a tensor with the same layout. */
  async download({ buffer }: BufferSlice, like: Tensor): Promise<Tensor> {
    const staging = this.#create(buffer.size, usage.mapRead | usage.copyTarget);
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    this.#device.queue.submit([encoder.finish()]);
    await staging.mapAsync(mapForReading);
    const data = dtypeInfo[like.dtype].allocate(like.data.length);
    new Uint8Array(data.buffer).set(new Uint8Array(staging.getMappedRange(), 0, data.byteLength));
    staging.unmap();
    const { dtype, shape, strides, offset } = like;
    return Tensor.wrap(data, { dtype, shape, strides, offset });
  }

  free(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  #create(size: number, flags: number): GPUBuffer {
    const buffer = this.#device.createBuffer({ size: Math.max(size, 4), usage: flags });
    this.#buffers.push(buffer);
    return buffer;
  }
}

function wholeWords(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}
