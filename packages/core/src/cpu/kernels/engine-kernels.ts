import { createKernels, kernelModules } from './host-kernels.ts';
import type { Kernels } from './interface/kernels.ts';
import { createKernelLender, type KernelLender } from './kernel-lender.ts';
import type { Variant } from './variant.ts';
import type { EngineModules } from './wasm/engine-functions.ts';
import { headModules } from './wasm/head-kernels.ts';
import { operationModules, withOperations } from './wasm/operation-kernels.ts';

/**
 * The kernels of engines, with those of the primitives. Engines store tensors in the memory of these kernels.
 */
export const engineKernels: KernelLender = /* @__PURE__ */ createKernelLender(createEngineKernels);

/** Kernels, with those of the primitives, in their own memory. */
export function createEngineKernels(variant: Variant): Kernels {
  return withOperations(createKernels(variant));
}

/** Compiles the kernels of engines without blocking. */
export async function compileEngineKernels(variant: Variant): Promise<void> {
  const modules = [kernelModules, operationModules, headModules];
  await Promise.all(modules.map(each => each.compile(variant)));
}

/** The compiled modules of engines, for other threads; null if a module has not been compiled. */
export function compiledModules(variant: Variant): EngineModules | null {
  const [attention, operations] = [kernelModules.get(variant), operationModules.get(variant)];
  const heads = headModules.get(variant);
  return attention && operations && heads ? { attention, operations, heads } : null;
}
