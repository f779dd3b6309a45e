export type { GpuHost, GpuHostKind, OpenGpuOptions } from './open-gpu.ts';
export { openGpu } from './open-gpu.ts';
