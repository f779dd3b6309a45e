import { createKernels, kernelModules } from './host-kernels.ts';
import type { Kernels } from './interface/kernels.ts';
import type { Variant } from './interface/variant.ts';
import { createKernelLender, type KernelLender } from './kernel-lender.ts';
import { operationModules, withOperations } from './wasm/operation-kernels.ts';

/** The kernels of engines, with those of the plain operations; tensors of engines lie in their memory. */
export const engineKernels: KernelLender = /* @__PURE__ */ createKernelLender(createEngineKernels);

/** Kernels with those of the plain operations, and a memory of their own. */
export function createEngineKernels(variant: Variant): Kernels {
  return withOperations(createKernels(variant));
}

/** Compiles the kernels of engines without blocking. */
export async function compileEngineKernels(variant: Variant): Promise<void> {
  await Promise.all([kernelModules, operationModules].map(modules => modules.compile(variant)));
}
