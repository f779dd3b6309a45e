import type { DropoutKernels, Kernels, Variant } from './kernels.ts';
import { createMemory } from './memory.ts';
import { relaxedSimdBinary, simdBinary } from './wasm-binaries.ts';

/** The variants that are WebAssembly. */
export type WasmVariant = Exclude<Variant, 'typescript'>;

type WasmExports = Omit<Kernels, 'variant' | 'description' | 'memory' | 'draws'> & DropoutKernels;

interface WasmSource {
  readonly binary: string;
  readonly description: string;
  /** A module that is valid where the kernels are: one function with one instruction of the feature. */
  readonly probe: readonly number[];
}

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0];

const sources: Readonly<Record<WasmVariant, WasmSource>> = {
  'wasm-relaxed-simd': {
    binary: relaxedSimdBinary,
    description: 'WebAssembly with relaxed SIMD',
    // i32.const 0, i8x16.splat, three times; f32x4.relaxed_madd
    probe: [
      ...[...HEADER, 10, 19, 1, 17, 0, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15],
      ...[0xfd, 0x85, 2, 11],
    ],
  },
  'wasm-simd': {
    binary: simdBinary,
    description: 'WebAssembly with SIMD',
    // i32.const 0, i8x16.splat
    probe: [...HEADER, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11],
  },
};

/** Whether this host has the instructions of a variant. */
export function isSupported(variant: WasmVariant): boolean {
  if (typeof WebAssembly !== 'object') return false;
  try {
    return WebAssembly.validate(Uint8Array.from(sources[variant].probe));
  } catch {
    return false;
  }
}

/** The module of a variant as bytes. */
export function wasmBytes(variant: WasmVariant): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(sources[variant].binary), c => c.charCodeAt(0));
}

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
    areFinite: (count, source) => Boolean(functions.areFinite(count, source)),
    variant,
    description: sources[variant].description,
    draws: functions,
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
