import { openGpu } from './open-gpu.ts';

/** How often a device created a buffer, submitted commands, and mapped a buffer. */
export interface Counts {
  buffers: number;
  submissions: number;
  maps: number;
}

/** A new device, and the counts of its calls, which grow with every call. */
export async function countingDevice(): Promise<{ device: GPUDevice; counts: Counts }> {
  const { adapter } = await openGpu();
  const device = await adapter.requestDevice();
  const counts: Counts = { buffers: 0, submissions: 0, maps: 0 };
  const create = device.createBuffer.bind(device);
  const submit = device.queue.submit.bind(device.queue);
  Object.defineProperty(device, 'createBuffer', {
    value: (descriptor: GPUBufferDescriptor): GPUBuffer => {
      counts.buffers++;
      const buffer = create(descriptor);
      const map = buffer.mapAsync.bind(buffer);
      Object.defineProperty(buffer, 'mapAsync', {
        value: (...args: Parameters<GPUBuffer['mapAsync']>) => {
          counts.maps++;
          return map(...args);
        },
      });
      return buffer;
    },
  });
  Object.defineProperty(device.queue, 'submit', {
    value: (commands: Iterable<GPUCommandBuffer>) => {
      counts.submissions++;
      submit(commands);
    },
  });
  return { device, counts };
}
