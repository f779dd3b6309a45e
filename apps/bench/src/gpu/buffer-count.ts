/** Bytes of the buffers of a device, from their creation until they are destroyed. */
export interface BufferCount {
  readonly peak: number;
  /** Forgets the peak: it starts again from what there is. */
  restart(): void;
}

/** Counts the buffers that a device makes from now on, whoever asks for them. */
export function countBuffers(device: GPUDevice): BufferCount {
  let [current, peak] = [0, 0];
  const create = device.createBuffer.bind(device);
  Object.defineProperty(device, 'createBuffer', {
    value(descriptor: GPUBufferDescriptor): GPUBuffer {
      const buffer = create(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      let bytes = descriptor.size;
      current += bytes;
      peak = Math.max(peak, current);
      Object.defineProperty(buffer, 'destroy', {
        value(): void {
          current -= bytes;
          bytes = 0;
          destroy();
        },
      });
      return buffer;
    },
  });
  return {
    get peak() {
      return peak;
    },
    restart() {
      peak = current;
    },
  };
}
