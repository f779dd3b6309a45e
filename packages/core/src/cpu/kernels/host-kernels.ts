import type { Kernels } from './interface/kernels.ts';
import { createKernelLender, type KernelLender } from './kernel-lender.ts';
import { typescriptKernels } from './typescript/typescript-kernels.ts';
import { type Variant, variants } from './variant.ts';
import { relaxedSimdBinary, simdBinary } from './wasm/kernel-binaries.ts';
import { isSupported } from './wasm/supported.ts';
import { createVariantModules, type VariantModules } from './wasm/variant-modules.ts';
import { wasmKernels } from './wasm/wasm-kernels.ts';

let best: Variant | null = null;

/** The variants whose instructions this host supports and may compile, the fastest first. */
export function supportedVariants(): Variant[] {
  return variants.filter(variant => variant === 'typescript' || isSupported(variant));
}

/** The fastest variant that this host supports; computed once. */
export function bestVariant(): Variant {
  best ??= supportedVariants()[0];
  return best;
}

/** The modules of the kernels of attention. */
export const kernelModules: VariantModules = /* @__PURE__ */ createVariantModules({
  'wasm-relaxed-simd': relaxedSimdBinary,
  'wasm-simd': simdBinary,
});

/**
 * The kernels of attention. These are the TypeScript ones if the host refuses to compile synchronously (old
 * browsers on their main thread, above 4 KiB) and the modules have not been compiled earlier.
 */
const lender: KernelLender = /* @__PURE__ */ createKernelLender(createKernels);

/** Lends kernels of attention to `work`, as a `KernelLender` does. */
export function withKernels<R>(variant: Variant, work: (kernels: Kernels) => R): R {
  return lender.withKernels(variant, work);
}

/** Kernels of attention with their own memory. */
export function createKernels(variant: Variant): Kernels {
  const module = kernelModules.getAtOnce(variant);
  return module ? wasmKernels(variant, module) : typescriptKernels();
}
