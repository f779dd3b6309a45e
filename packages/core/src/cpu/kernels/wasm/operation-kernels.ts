import type { Kernels } from '../interface/kernels.ts';
import type { MatrixKernels } from '../interface/matrix-kernels.ts';
import type { LaneFunctions } from '../interface/module-host.ts';
import type { Variant } from '../interface/variant.ts';
import { bytesOfModule } from './module-sources.ts';
import { relaxedSimdBinary, simdBinary } from './operation-binaries.ts';

type WasmVariant = Exclude<Variant, 'typescript'>;

const binaries: Readonly<Record<WasmVariant, string>> = {
  'wasm-relaxed-simd': relaxedSimdBinary,
  'wasm-simd': simdBinary,
};
const modules = new Map<WasmVariant, WebAssembly.Module>();

/** The compiled module of a variant, if it is there. */
export function operationsModule(variant: Variant): WebAssembly.Module | undefined {
  return variant === 'typescript' ? undefined : modules.get(variant);
}

/** Compiles the kernels of the plain operations without blocking. */
export async function compileOperations(variant: Variant): Promise<void> {
  if (variant !== 'typescript' && !modules.has(variant)) {
    modules.set(variant, await WebAssembly.compile(bytesOfModule(binaries[variant])));
  }
}

/**
 * Kernels with those of the plain operations, on one memory; as they are where they are TypeScript, or the
 * host refuses to compile at once.
 */
export function withOperations(kernels: Kernels): Kernels {
  const { variant, wasm } = kernels;
  const module = variant !== 'typescript' && wasm ? (modules.get(variant) ?? compileAtOnce(variant)) : null;
  if (!module || !wasm) return kernels;
  const { exports } = new WebAssembly.Instance(module, { env: { memory: wasm.memory } });
  // The names and parameters of the exports are those of the interfaces; assembly/operations.ts has them.
  const functions = exports as unknown as MatrixKernels & LaneFunctions;
  return { ...kernels, matrices: functions, loops: { ...wasm, lanes: functions } };
}

function compileAtOnce(variant: WasmVariant): WebAssembly.Module | null {
  try {
    const module = new WebAssembly.Module(bytesOfModule(binaries[variant]));
    modules.set(variant, module);
    return module;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
