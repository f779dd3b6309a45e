export { type CpuEngineOptions, cpuEngine } from './engine.ts';
export type { Variant } from './kernels/interface/variant.ts';
export { sdpa, sdpaBackward } from './sdpa.ts';
