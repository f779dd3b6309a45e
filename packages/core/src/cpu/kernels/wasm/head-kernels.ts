import type { HeadKernels } from '../interface/head-kernels.ts';
import { headsBinary } from './heads-binary.ts';
import { createVariantModules, type VariantModules } from './variant-modules.ts';

/** The module of passes over small heads, which is the same for all variants. */
export const headModules: VariantModules = /* @__PURE__ */ createVariantModules({
  'wasm-relaxed-simd': headsBinary,
  'wasm-simd': headsBinary,
});

/**
 * The functions of a module of passes over small heads, linked to kernels of attention and their memory. The
 * logarithm is the host's, so that results have the bits of other passes.
 */
export function headFunctions(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  kernels: WebAssembly.Exports,
): HeadKernels {
  const imports = { env: { memory }, kernels, host: { log: Math.log } };
  const { exports } = new WebAssembly.Instance(module, imports as WebAssembly.Imports);
  // The exports have the names and parameters of the interface; assembly/heads/index.ts defines them.
  return exports as unknown as HeadKernels;
}
