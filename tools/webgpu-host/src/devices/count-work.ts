import { watchPasses } from './watch-passes.ts';

/** The work that was encoded for a device. */
export interface Work {
  dispatches: number;
  /** The bytes that the dispatches bound as storage; each dispatch reads or writes about as many. */
  bytes: number;
}

/** Counts the work that is encoded for a device from now on. */
export function countWork(device: GPUDevice): Work {
  const work: Work = { dispatches: 0, bytes: 0 };
  const bound = new WeakMap<GPUBindGroup, number>();
  const createBindGroup = device.createBindGroup.bind(device);
  Object.defineProperty(device, 'createBindGroup', {
    value(descriptor: GPUBindGroupDescriptor): GPUBindGroup {
      const group = createBindGroup(descriptor);
      bound.set(group, storageBytes(descriptor));
      return group;
    },
  });
  watchPasses(device, pass => {
    let bytes = 0;
    const setBindGroup = pass.setBindGroup.bind(pass);
    const dispatchWorkgroups = pass.dispatchWorkgroups.bind(pass);
    Object.defineProperties(pass, {
      setBindGroup: {
        value(index: number, group: GPUBindGroup): void {
          bytes = bound.get(group) ?? 0;
          setBindGroup(index, group);
        },
      },
      dispatchWorkgroups: {
        value(x: number, y?: number, z?: number): void {
          work.dispatches++;
          work.bytes += bytes;
          dispatchWorkgroups(x, y, z);
        },
      },
    });
  });
  return work;
}

/** The bytes of the buffers in a bind group, without its first binding, which is the kernel's uniforms. */
function storageBytes({ entries }: GPUBindGroupDescriptor): number {
  return [...entries].slice(1).reduce((sum, { resource }) => {
    if (!('buffer' in resource)) return sum;
    return sum + (resource.size ?? resource.buffer.size);
  }, 0);
}
