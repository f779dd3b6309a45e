import { createContext, type GpuContext } from '../../src/index.ts';
import { sharedContext } from './shared-context.ts';

/** A context that assumes its device binds at most so many bytes of a buffer. */
export async function limitedContext(maxStorageBufferBindingSize: number): Promise<GpuContext> {
  const ctx = await createContext({ device: (await sharedContext()).device });
  return Object.assign(ctx, { capabilities: { ...ctx.capabilities, maxStorageBufferBindingSize } });
}

/** Runs work on a context, and returns the sizes in bytes of what its dispatches bind. */
export async function boundSizes(ctx: GpuContext, work: () => Promise<unknown>): Promise<number[]> {
  const { device } = ctx;
  const sizes: number[] = [];
  const { createBindGroup } = device;
  device.createBindGroup = descriptor => {
    for (const { resource } of descriptor.entries) sizes.push((resource as GPUBufferBinding).size ?? 0);
    return createBindGroup.call(device, descriptor);
  };
  try {
    await work();
  } finally {
    device.createBindGroup = createBindGroup;
  }
  return sizes;
}
