import { type Kernels, MEMORY_KEPT, type Variant, variants } from './kernels.ts';
import type { Memory } from './memory.ts';
import { typescriptKernels } from './typescript.ts';
import { type WasmVariant, wasmKernels } from './wasm.ts';
import { isSupported, wasmBytes } from './wasm-sources.ts';

let best: Variant | null = null;
const modules = new Map<WasmVariant, WebAssembly.Module>();
const idle = new Map<Variant, Kernels>();

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
 * Lends kernels to `work`, their memory empty but for tensors. Where the host refuses to compile at once (old
 * browsers on their main thread, above 4 KiB) and nobody has compiled them yet, these are the TypeScript
 * ones.
 */
export function withKernels<R>(variant: Variant, work: (kernels: Kernels) => R): R {
  const kernels = idle.get(variant) ?? createKernels(variant);
  // Taken out, so that a call that throws leaves nothing half done behind.
  idle.delete(variant);
  let isDone = false;
  try {
    const result = work(kernels);
    isDone = true;
    return result;
  } finally {
    const { bytes, isKept } = kernels.memory;
    if (isKept || (isDone && bytes <= MEMORY_KEPT)) idle.set(variant, kernels);
  }
}

/** The memory of the kernels that are lent. */
export function residentMemory(variant: Variant): Memory {
  const kernels = idle.get(variant) ?? createKernels(variant);
  idle.set(variant, kernels);
  return kernels.memory;
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
