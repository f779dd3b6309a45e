import { setFlagsFromString } from 'node:v8';
import { UnsupportedError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';

type CpuEngine = ReturnType<typeof cpuEngine>;

/**
 * The CPU engine on one thread with relaxed SIMD, if this Node has it only behind a flag, as Node 20 does;
 * browsers and later versions of Node have it without. Engines that exist already, and those that are
 * created without a variant, keep their instructions.
 */
export function relaxedEngine(): CpuEngine | null {
  if (cpuEngine().description.includes('relaxed')) return null;
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  try {
    return cpuEngine({ threads: 1, variant: 'wasm-relaxed-simd' });
  } catch (error) {
    if (error instanceof UnsupportedError) return null;
    throw error;
  }
}
