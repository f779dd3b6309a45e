/** The bytes of a device's buffers, from creation until destruction. */
export interface BufferCount {
  readonly peak: number;
  /** Resets the peak to the current bytes. */
  restart(): void;
}

/** Counts the buffers that a device creates from now on, for any caller. */
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
