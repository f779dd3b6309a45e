import type { DropoutKernels, Kernels, LineKernels, Variant } from './kernels.ts';
import { createMemory } from './memory.ts';

/** The variants that are WebAssembly. */
export type WasmVariant = Exclude<Variant, 'typescript'>;

type WasmExports = Omit<Kernels, 'variant' | 'memory' | 'draws' | 'lines'> & DropoutKernels & LineKernels;

/** The modules keep their constants below; address 0 stands for no ranges. */
const MEMORY_BASE = 1024;
const PAGE = 65_536;
/** More than what is asked for, so that panel after panel does not move the memory each time. */
const GROWTH = 16;

/** Kernels of a compiled module, with a memory of their own. */
export function wasmKernels(variant: WasmVariant, module: WebAssembly.Module): Kernels {
  const { exports } = new WebAssembly.Instance(module);
  const memory = exports.memory as WebAssembly.Memory;
  // The names and parameters of the exports are those of the interface; assembly/index.ts has them.
  const functions = exports as unknown as WasmExports;
  return {
    ...functions,
    packRows: (...rows) => Boolean(functions.packRows(...rows)),
    variant,
    draws: functions,
    lines: functions,
    memory: createMemory(
      {
        buffer: memory.buffer,
        grow(bytes) {
          memory.grow(Math.max(Math.ceil(bytes / PAGE), GROWTH));
          return memory.buffer;
        },
      },
      MEMORY_BASE,
    ),
  };
}
