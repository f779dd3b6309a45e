import { TilewiseError } from '@tilewise/core';
import { withFaults } from './faults.ts';
import { forgetContent, noteAllocation } from './gpu-work.ts';
import { bufferUsage } from './webgpu-flags.ts';

/** Bytes of the GPU buffers that a context has allocated: those in use, and those kept for reuse. */
export interface MemoryUse {
  /** The bytes that are allocated now. */
  readonly current: number;
  /** The peak number of bytes so far, or since `resetPeakMemory`. */
  readonly peak: number;
}

/**
 * The buffers of a context. A buffer that is given back serves the next request of its size. This is safe
 * because GPU work runs in order: the earlier use ends before the later one starts.
 */
export class BufferPool {
  readonly #device: GPUDevice;
  readonly #maxIdle: number;
  readonly #maxSize: number;
  #current = 0;
  #peak = 0;
  #idle = 0;
  /**
   * Free buffers by usage and size. Both the keys and the buffers of a key are in the order in which they
   * were given back.
   */
  readonly #free = new Map<number, GPUBuffer[]>();
  /** The buffers that exist, with their sizes: the getters of a GPUBuffer call the WebGPU implementation. */
  readonly #live = new Map<GPUBuffer, GPUBufferDescriptor>();

  /** @param maxIdle the largest number of bytes to keep for reuse. */
  constructor(device: GPUDevice, maxIdle: number) {
    this.#device = device;
    this.#maxIdle = maxIdle;
    this.#maxSize = device.limits.maxBufferSize;
  }

  get use(): MemoryUse {
    return { current: this.#current, peak: this.#peak };
  }

  /** Resets the peak to the number of bytes held now. */
  resetPeak(): void {
    this.#peak = this.#current;
  }

  /** A storage buffer of at least `bytes`, with undefined content. */
  take(bytes: number): GPUBuffer {
    const size = sizeClass(bytes, this.#maxSize);
    const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST;
    const reused = this.#takeFree({ size, usage });
    if (reused) {
      forgetContent(reused);
      return reused;
    }
    const { result: buffer, fault } = withFaults(this.#device, () =>
      this.#create({ size, usage, label: 'tilewise' }),
    );
    const refused = fault.then(wrong => {
      if (!wrong) return undefined;
      this.discard(buffer);
      return noMemory(size, wrong);
    });
    noteAllocation(buffer, refused);
    return buffer;
  }

  /** A buffer for reading on the host. */
  takeStaging(bytes: number): GPUBuffer {
    const usage = bufferUsage.MAP_READ | bufferUsage.COPY_DST;
    const size = sizeClass(bytes, this.#maxSize);
    return this.#takeFree({ size, usage }) ?? this.#create({ size, usage, label: 'tilewise staging' });
  }

  /**
   * A uniform buffer with the given content.
   * @throws TilewiseError `OUT_OF_MEMORY`.
   */
  takeUniform(content: Uint8Array): GPUBuffer {
    const size = sizeClass(content.length, this.#maxSize);
    const usage = bufferUsage.UNIFORM;
    const buffer = this.#create({ size, usage, mappedAtCreation: true, label: 'tilewise parameters' });
    new Uint8Array(buffer.getMappedRange()).set(content);
    buffer.unmap();
    return buffer;
  }

  /**
   * Takes back a buffer of `take` or `takeStaging`, which must be unmapped. Call it once each time a buffer
   * was taken.
   */
  give(buffer: GPUBuffer): void {
    const own = this.#live.get(buffer);
    if (!own) return;
    const key = keyOf(own);
    const free = this.#free.get(key) ?? [];
    free.push(buffer);
    // The key of the buffer given back last moves to the end.
    this.#free.delete(key);
    this.#free.set(key, free);
    this.#idle += own.size;
    if (this.#idle <= this.#maxIdle) return;
    for (const [key, buffers] of this.#free) {
      while (this.#idle > this.#maxIdle) {
        const oldest = buffers.shift();
        if (!oldest) break;
        this.#idle -= oldest.size;
        this.discard(oldest);
      }
      if (buffers.length === 0) this.#free.delete(key);
    }
  }

  /** Destroys one buffer. */
  discard(buffer: GPUBuffer): void {
    if (!this.#live.delete(buffer)) return;
    this.#current -= buffer.size;
    buffer.destroy();
  }

  /** Destroys the buffers that are kept for reuse. */
  trim(): void {
    const idle = [...this.#free.values()].flat();
    this.#free.clear();
    this.#idle = 0;
    for (const buffer of idle) this.discard(buffer);
  }

  /** Destroys every buffer. */
  destroy(): void {
    this.trim();
    for (const buffer of [...this.#live.keys()]) this.discard(buffer);
  }

  #takeFree(wanted: { readonly size: number; readonly usage: number }): GPUBuffer | undefined {
    const free = this.#free.get(keyOf(wanted));
    for (let found = free?.pop(); found; found = free?.pop()) {
      this.#idle -= wanted.size;
      // The allocation of the buffer may have failed.
      if (this.#live.has(found)) return found;
    }
    return undefined;
  }

  #create(descriptor: GPUBufferDescriptor): GPUBuffer {
    const buffer = this.#allocate(descriptor);
    this.#live.set(buffer, descriptor);
    this.#current += descriptor.size;
    this.#peak = Math.max(this.#peak, this.#current);
    return buffer;
  }

  #allocate(descriptor: GPUBufferDescriptor): GPUBuffer {
    try {
      return this.#device.createBuffer(descriptor);
    } catch (error) {
      // WebGPU reports the lack of memory for a mapped buffer at once, as a RangeError.
      throw noMemory(descriptor.size, error);
    }
  }
}

/** The error for a buffer for which the GPU has no memory, or which is larger than the device allows. */
const noMemory = (size: number, cause: unknown): TilewiseError =>
  new TilewiseError('OUT_OF_MEMORY', `the GPU has no memory for another ${size} bytes`, { cause });

/**
 * A number, because making a string takes longer. The last bit, which is 0 in sizes, is the usage MAP_READ.
 */
const keyOf = ({ size, usage }: { readonly size: number; readonly usage: number }): number =>
  size + (usage & bufferUsage.MAP_READ);

/**
 * The size to allocate: a multiple of 16 bytes, and at least 16, because an empty tensor must be bindable
 * too. Above 4 KiB, sizes are rounded up to steps of an eighth, so that sequences of different lengths can
 * reuse the same buffers. If the device allows no buffer of the rounded size, only to whole words.
 */
function sizeClass(bytes: number, maxSize: number): number {
  const step = bytes <= 4096 ? 16 : 2 ** (Math.floor(Math.log2(bytes)) - 3);
  const size = Math.max(16, Math.ceil(bytes / step) * step);
  return size > maxSize ? Math.ceil(bytes / 4) * 4 : size;
}
