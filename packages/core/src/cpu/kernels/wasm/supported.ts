import type { WasmVariant } from './wasm-kernels.ts';

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0];

/**
 * Modules that are valid only on hosts that can run the kernels: one function with one instruction of the
 * feature.
 */
const probes: Readonly<Record<WasmVariant, readonly number[]>> = {
  // i32.const 0, i8x16.splat, three times; f32x4.relaxed_madd
  'wasm-relaxed-simd': [
    ...[...HEADER, 10, 19, 1, 17, 0, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15],
    ...[0xfd, 0x85, 2, 11],
  ],
  // i32.const 0, i8x16.splat
  'wasm-simd': [...HEADER, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11],
};

/**
 * Whether this host supports the instructions of a variant, and its content security policy allows it to
 * compile WebAssembly.
 */
export function isSupported(variant: WasmVariant): boolean {
  if (typeof WebAssembly !== 'object') return false;
  try {
    return new WebAssembly.Module(Uint8Array.from(probes[variant])) instanceof WebAssembly.Module;
  } catch {
    return false;
  }
}
