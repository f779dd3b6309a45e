/** Makes the devices of an adapter compile what `rewrite` makes of the WGSL that they are given. */
export function rewriteShaders(adapter: GPUAdapter, rewrite: (wgsl: string) => string): void {
  const request = adapter.requestDevice.bind(adapter);
  Object.defineProperty(adapter, 'requestDevice', {
    configurable: true,
    value: async (wanted?: GPUDeviceDescriptor): Promise<GPUDevice> => {
      const device = await request(wanted);
      const create = device.createShaderModule.bind(device);
      Object.defineProperty(device, 'createShaderModule', {
        configurable: true,
        value: (module: GPUShaderModuleDescriptor): GPUShaderModule =>
          create({ ...module, code: rewrite(module.code) }),
      });
      return device;
    },
  });
}

const entryPoint = /(@workgroup_size\((\d+)\)[^{]*@builtin\(local_invocation_index\) (\w+))(: u32[^{]*\{)/g;

/**
 * WGSL in which the lanes of a workgroup are numbered from the last to the first. A software adapter runs the
 * subgroups of a workgroup one after the other, from one barrier to the next. So a kernel that lacks a
 * barrier between two subgroups gives wrong results in one of the two orders. A missing
 * barrier in one branch of a condition is not found if the other branch has a barrier, because software
 * adapters run both branches; neither is one between lanes of one subgroup.
 */
export const withReversedLanes = (wgsl: string): string =>
  wgsl.replace(
    entryPoint,
    (_, start: string, lanes: string, lane: string, end: string) =>
      `${start}_in_order${end}\n  let ${lane} = ${Number(lanes) - 1}u - ${lane}_in_order;`,
  );
