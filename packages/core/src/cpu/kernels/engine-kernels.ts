import { createKernels, kernelModules } from './host-kernels.ts';
import type { Kernels } from './interface/kernels.ts';
import type { Variant } from './interface/variant.ts';
import { createKernelLender, type KernelLender } from './kernel-lender.ts';
import { operationModules, withOperations } from './wasm/operation-kernels.ts';

/** The kernels of engines, including those of the plain operations; engines store tensors in their memory. */
export const engineKernels: KernelLender = /* @__PURE__ */ createKernelLender(createEngineKernels);

/** Kernels, including those of the plain operations, with their own memory. */
export function createEngineKernels(variant: Variant): Kernels {
  return withOperations(createKernels(variant));
}

/** Compiles the kernels of engines without blocking. */
export async function compileEngineKernels(variant: Variant): Promise<void> {
  await Promise.all([kernelModules, operationModules].map(modules => modules.compile(variant)));
}
