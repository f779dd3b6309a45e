import type { Kernels } from './interface/kernels.ts';
import { type Variant, variants } from './interface/variant.ts';
import { createKernelLender, type KernelLender } from './kernel-lender.ts';
import { typescriptKernels } from './typescript/typescript-kernels.ts';
import { isSupported, wasmBytes } from './wasm/module-sources.ts';
import { type WasmVariant, wasmKernels } from './wasm/wasm-kernels.ts';

let best: Variant | null = null;
const modules = new Map<WasmVariant, WebAssembly.Module>();

/** The variants that this host has the instructions for and may compile, the fastest first. */
export function supportedVariants(): Variant[] {
  return variants.filter(variant => variant === 'typescript' || isSupported(variant));
}

/** The fastest variant that this host has the instructions for; found out once. */
export function bestVariant(): Variant {
  best ??= supportedVariants()[0];
  return best;
}

/**
 * Compiles the kernels of a variant without blocking, for hosts that compile no module at once on their main
 * thread.
 */
export async function compileKernels(variant: Variant): Promise<void> {
  if (variant !== 'typescript' && !modules.has(variant)) {
    modules.set(variant, await WebAssembly.compile(wasmBytes(variant)));
  }
}

/** Whether kernels of a variant can be had without compiling them. */
export function areCompiled(variant: Variant): boolean {
  return variant === 'typescript' || modules.has(variant);
}

/** The compiled module of a variant, if it is there. */
export function moduleOf(variant: Variant): WebAssembly.Module | undefined {
  return variant === 'typescript' ? undefined : modules.get(variant);
}

/**
 * The kernels of attention. Where the host refuses to compile at once (old browsers on their main thread,
 * above 4 KiB) and nobody has compiled them yet, these are the TypeScript ones.
 */
const lender: KernelLender = /* @__PURE__ */ createKernelLender(createKernels);

/** Lends kernels of attention to `work`, their memory empty. */
export function withKernels<R>(variant: Variant, work: (kernels: Kernels) => R): R {
  return lender.withKernels(variant, work);
}

/** Kernels with a memory of their own. */
export function createKernels(variant: Variant): Kernels {
  if (variant === 'typescript') return typescriptKernels();
  const module = modules.get(variant) ?? compileAtOnce(variant);
  return module ? wasmKernels(variant, module) : typescriptKernels();
}

function compileAtOnce(variant: WasmVariant): WebAssembly.Module | null {
  try {
    const module = new WebAssembly.Module(wasmBytes(variant));
    modules.set(variant, module);
    return module;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
