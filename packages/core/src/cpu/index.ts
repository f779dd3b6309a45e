export { sdpa, sdpaBackward } from './sdpa.ts';

// The engine comes second, so that bundles with `sdpa` alone have the long strings of kernels after all code:
// compressors look for repetitions only within some tens of kilobytes.

export { cpuEngine } from './engine.ts';
export type { CpuEngineOptions } from './engine-options.ts';
export type { Variant } from './kernels/variant.ts';
