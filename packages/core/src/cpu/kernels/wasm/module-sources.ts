import { sharesMemory } from '../memory/shared-memory.ts';
import { relaxedSimdBinary, simdBinary } from './kernel-binaries.ts';
import type { WasmVariant } from './wasm-kernels.ts';

interface WasmSource {
  /** Two digits for each byte: compressed texts are smaller than with base64. */
  readonly binary: string;
  /** A module that is valid where the kernels are: one function with one instruction of the feature. */
  readonly probe: readonly number[];
}

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0];

const sources: Readonly<Record<WasmVariant, WasmSource>> = {
  'wasm-relaxed-simd': {
    binary: relaxedSimdBinary,
    // i32.const 0, i8x16.splat, three times; f32x4.relaxed_madd
    probe: [
      ...[...HEADER, 10, 19, 1, 17, 0, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15],
      ...[0xfd, 0x85, 2, 11],
    ],
  },
  'wasm-simd': {
    binary: simdBinary,
    // i32.const 0, i8x16.splat
    probe: [...HEADER, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11],
  },
};

/**
 * Whether this host has the instructions of a variant, and its content security policy lets it compile
 * WebAssembly.
 */
export function isSupported(variant: WasmVariant): boolean {
  if (typeof WebAssembly !== 'object') return false;
  try {
    return new WebAssembly.Module(Uint8Array.from(sources[variant].probe)) instanceof WebAssembly.Module;
  } catch {
    return false;
  }
}

/**
 * The memory that modules import, as their binaries name it: "env", "memory", and that it is a memory. Its
 * flags are next.
 */
const MEMORY_IMPORT = [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2];
/** Flags of a memory with a maximum. */
const SHARED = 3;
const UNSHARED = 1;

/** The module of a variant as bytes. */
export function wasmBytes(variant: WasmVariant): Uint8Array<ArrayBuffer> {
  return bytesOfModule(sources[variant].binary);
}

/** The bytes of a module from the text of its binary, for the kind of memory that there is here. */
export function bytesOfModule(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length / 2);
  for (let n = 0; n < bytes.length; n++) bytes[n] = Number.parseInt(binary.slice(2 * n, 2 * n + 2), 16);
  bytes[memoryFlagsAt(bytes)] = sharesMemory() ? SHARED : UNSHARED;
  return bytes;
}

function memoryFlagsAt(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; at++) {
    if (MEMORY_IMPORT.every((byte, n) => bytes[at + n] === byte)) return at + MEMORY_IMPORT.length;
  }
  throw new Error('the kernels import no memory');
}
