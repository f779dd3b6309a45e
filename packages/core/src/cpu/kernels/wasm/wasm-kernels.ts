import type { DropoutKernels } from '../interface/dropout-kernels.ts';
import type { Kernels } from '../interface/kernels.ts';
import { createMemory } from '../memory/memory.ts';
import { sharesMemory } from '../memory/shared-memory.ts';
import type { Variant } from '../variant.ts';

/** The variants that are WebAssembly. */
export type WasmVariant = Exclude<Variant, 'typescript'>;

type WasmExports = Omit<Kernels, 'variant' | 'memory' | 'draws' | 'wasm' | 'matrices' | 'heads' | 'loops'> &
  DropoutKernels;

/**
 * The constants of the modules end below this address, where the scratch memory of threads begins; address 0
 * means no ranges.
 */
const SCRATCH_BASE = 2048;
/** The bytes of scratch memory that the kernels of each thread need: `CHUNK_BYTES` of `exponential.ts`. */
const SCRATCH_BYTES = 256;
/**
 * The maximum number of threads of a team, of which each takes about 10 MB before it computes anything. Teams
 * of several engines use the same scratch memory one after the other, because the thread that owns the memory
 * waits for each step.
 */
export const MAX_THREADS = 64;
/** The scratch memory of all threads ends here; panels and tensors follow. */
const MEMORY_BASE: number = SCRATCH_BASE + MAX_THREADS * SCRATCH_BYTES;
const PAGE = 65_536;
/** Grows by more than needed, so that the memory does not grow again for every panel. */
const GROWTH = 16;
/**
 * The maximum sizes of a memory, in pages, which are tried in turn: what 32 bits can address without the last
 * page, because the address after a tensor must not be 0, or as much as a small host can reserve.
 */
const LARGEST = [65_535, 16_384, 4096];

/** Kernels of a compiled module, with their own memory. */
export function wasmKernels(variant: Variant, module: WebAssembly.Module): Kernels {
  const shared = sharesMemory();
  const memory = newMemory(shared);
  const exports = attentionExports(module, memory, 0);
  // The exports have the names and parameters of the interface; assembly/index.ts defines them.
  const functions = exports as unknown as WasmExports;
  return {
    ...functions,
    packRows: (...rows) => Boolean(functions.packRows(...rows)),
    variant,
    draws: functions,
    wasm: { memory, shared, kernels: exports },
    memory: createMemory(
      {
        buffer: memory.buffer,
        staysInPlace: shared,
        grow(bytes) {
          memory.grow(Math.max(Math.ceil(bytes / PAGE), GROWTH));
          return memory.buffer;
        },
      },
      MEMORY_BASE,
    ),
  };
}

/** The exports of a module of kernels, linked to a memory for the thread with a given number. */
export function attentionExports(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  thread: number,
): WebAssembly.Exports {
  const scratch = SCRATCH_BASE + thread * SCRATCH_BYTES;
  return new WebAssembly.Instance(module, { env: { memory, scratch } }).exports;
}

function newMemory(shared: boolean): WebAssembly.Memory {
  for (const maximum of LARGEST) {
    try {
      return new WebAssembly.Memory({ initial: 1, maximum, shared });
    } catch (error) {
      if (!(error instanceof RangeError) || maximum === LARGEST.at(-1)) throw error;
    }
  }
  throw new TypeError('a memory has a largest size');
}
