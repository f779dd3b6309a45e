import { TilewiseError } from '@tilewise/core';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { shaderStageCompute } from '../../device/webgpu-flags.ts';

/** A compiled kernel, which its device keeps as long as the device exists. */
export interface CompiledKernel {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

/** Compiled kernels by source, per device: plans and contexts on one device share them. */
const cache = new WeakMap<GPUDevice, Map<string, CompiledKernel>>();

function compiledOn(device: GPUDevice): Map<string, CompiledKernel> {
  let compiled = cache.get(device);
  if (!compiled) {
    compiled = new Map();
    cache.set(device, compiled);
  }
  return compiled;
}

/**
 * Returns the compiled kernel, and compiles it first if necessary. A compile error goes to the device's
 * current error scope.
 */
export function compile(device: GPUDevice, spec: KernelSpec): CompiledKernel {
  const compiled = compiledOn(device);
  let kernel = compiled.get(spec.wgsl);
  if (!kernel) {
    const { layout, descriptor } = describe(device, spec);
    kernel = { layout, pipeline: device.createComputePipeline(descriptor) };
    compiled.set(spec.wgsl, kernel);
  }
  return kernel;
}

/** Whether these kernels are all compiled. */
export function areCompiled(device: GPUDevice, kernels: readonly KernelSpec[]): boolean {
  return kernels.every(({ wgsl }) => compiledOn(device).has(wgsl));
}

/** Compiles kernels in the background, as `compileAsync` does. */
export async function compileAll(device: GPUDevice, kernels: readonly KernelSpec[]): Promise<void> {
  await Promise.all(kernels.map(kernel => compileAsync(device, kernel)));
}

/**
 * Kernels that are being compiled in the background, by source, so that a second request waits for the same
 * compilation.
 */
const compiling = new WeakMap<GPUDevice, Map<string, Promise<void>>>();

/** Compiles a kernel in the background. Rejects with a TilewiseError if the device fails to compile it. */
export function compileAsync(device: GPUDevice, spec: KernelSpec): Promise<void> {
  const compiled = compiledOn(device);
  if (compiled.has(spec.wgsl)) return Promise.resolve();
  const pending = compiling.get(device) ?? new Map<string, Promise<void>>();
  compiling.set(device, pending);
  let promise = pending.get(spec.wgsl);
  if (!promise) {
    const { layout, descriptor } = describe(device, spec);
    promise = device
      .createComputePipelineAsync(descriptor)
      .then(
        pipeline => {
          compiled.set(spec.wgsl, { layout, pipeline });
        },
        (cause: unknown) => {
          throw new TilewiseError(
            'UNSUPPORTED',
            `the device did not compile '${spec.name}': ${String(cause)}`,
            { cause },
          );
        },
      )
      .finally(() => pending.delete(spec.wgsl));
    pending.set(spec.wgsl, promise);
  }
  return promise;
}

function describe(
  device: GPUDevice,
  { name, wgsl, bindings }: KernelSpec,
): { layout: GPUBindGroupLayout; descriptor: GPUComputePipelineDescriptor } {
  const visibility = shaderStageCompute;
  const layout = device.createBindGroupLayout({
    label: name,
    entries: [
      { binding: 0, visibility, buffer: { type: 'uniform' } },
      ...bindings.map(({ access }, n) => ({
        binding: n + 1,
        visibility,
        buffer: { type: access === 'read' ? ('read-only-storage' as const) : ('storage' as const) },
      })),
    ],
  });
  return {
    layout,
    descriptor: {
      label: name,
      layout: device.createPipelineLayout({ label: name, bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ label: name, code: wgsl }), entryPoint: 'main' },
    },
  };
}
