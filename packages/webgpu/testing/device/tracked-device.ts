import { callersDevice } from './device-buffers.ts';

/** A device that tracks which of its buffers are alive. */
export interface TrackedDevice {
  readonly device: GPUDevice;
  /** The labels of the buffers that were created and not destroyed. */
  live(): string[];
}

/** A device of the caller whose buffers are all tracked. */
export async function trackedDevice(given?: GPUDevice): Promise<TrackedDevice> {
  const device = given ?? (await callersDevice());
  const buffers = new Set<GPUBuffer>();
  const create = device.createBuffer.bind(device);
  Object.defineProperty(device, 'createBuffer', {
    value: (descriptor: GPUBufferDescriptor): GPUBuffer => {
      const buffer = create(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      Object.defineProperty(buffer, 'destroy', {
        value: () => {
          buffers.delete(buffer);
          destroy();
        },
      });
      buffers.add(buffer);
      return buffer;
    },
  });
  return { device, live: () => [...buffers].map(({ label }) => label) };
}
