import type { Kernels } from '../interface/kernels.ts';
import type { MatrixKernels } from '../interface/matrix-kernels.ts';
import type { LaneFunctions } from '../interface/module-host.ts';
import { headFunctions, headModules } from './head-kernels.ts';
import { relaxedSimdBinary, simdBinary } from './operation-binaries.ts';
import { createVariantModules, type VariantModules } from './variant-modules.ts';

/** The modules of the primitives' kernels. */
export const operationModules: VariantModules = /* @__PURE__ */ createVariantModules({
  'wasm-relaxed-simd': relaxedSimdBinary,
  'wasm-simd': simdBinary,
});

/** The functions of a module of the primitives, linked to the memory of kernels. */
export function operationFunctions(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): MatrixKernels & LaneFunctions {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  // The exports have the names and parameters of the interfaces; assembly/operations.ts defines them.
  return exports as unknown as MatrixKernels & LaneFunctions;
}

/**
 * Kernels with those of the primitives and of passes over small heads, in one memory. Returns the
 * kernels unchanged if they are TypeScript, or if the host refuses to compile synchronously.
 */
export function withOperations(kernels: Kernels): Kernels {
  const { variant, wasm } = kernels;
  const module = wasm && operationModules.getAtOnce(variant);
  const headModule = headModules.getAtOnce(variant);
  if (!module || !headModule) return kernels;
  const functions = operationFunctions(module, wasm.memory);
  const heads = headFunctions(headModule, wasm.memory, wasm.kernels);
  return { ...kernels, matrices: functions, heads, loops: { ...wasm, lanes: functions } };
}
