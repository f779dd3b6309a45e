import { sharesMemory } from '../memory/shared-memory.ts';
import type { Variant } from '../variant.ts';
import type { WasmVariant } from './wasm-kernels.ts';

/** The compiled modules of some kernels, one per variant except TypeScript. */
export interface VariantModules {
  /** The module of a variant, if it has been compiled. */
  get(variant: Variant): WebAssembly.Module | undefined;
  /**
   * Compiles the module of a variant asynchronously, for hosts that do not compile synchronously on their
   * main thread.
   */
  compile(variant: Variant): Promise<void>;
  /** The module of a variant, compiled synchronously if needed; null if the host refuses. */
  getAtOnce(variant: Variant): WebAssembly.Module | null;
}

/** The modules of binaries in hexadecimal, which compresses better than base64. */
export function createVariantModules(binaries: Readonly<Record<WasmVariant, string>>): VariantModules {
  const modules = new Map<Variant, WebAssembly.Module>();
  return {
    get: variant => modules.get(variant),
    async compile(variant) {
      if (variant === 'typescript' || modules.has(variant)) return;
      modules.set(variant, await WebAssembly.compile(bytesOf(binaries[variant])));
    },
    getAtOnce(variant) {
      if (variant === 'typescript') return null;
      const module = modules.get(variant) ?? compileAtOnce(bytesOf(binaries[variant]));
      if (module) modules.set(variant, module);
      return module;
    },
  };
}

/**
 * Compiles a module synchronously; null if the host refuses, as old browsers do on their main thread above 4
 * KiB.
 */
export function compileAtOnce(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module | null {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The memory import in the binary of a module: "env", "memory", and the kind (a memory). Its flags follow.
 */
const MEMORY_IMPORT = '03656e76066d656d6f727902';
/** The flags of a memory with a maximum. */
const SHARED = 3;
const UNSHARED = 1;

/** The bytes of a module, for the kind of memory that this host has. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  const digits = binary.match(/../g) ?? [];
  const bytes = Uint8Array.from(digits, digit => Number.parseInt(digit, 16));
  const at = binary.indexOf(MEMORY_IMPORT);
  if (at < 0) throw new Error('the kernels import no memory');
  bytes[(at + MEMORY_IMPORT.length) / 2] = sharesMemory() ? SHARED : UNSHARED;
  return bytes;
}
