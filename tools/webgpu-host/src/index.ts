export { countWork, type Work } from './count-work.ts';
export { type Counts, countingDevice } from './counting-device.ts';
export type { GpuHost, GpuHostKind, OpenGpuOptions } from './open-gpu.ts';
export { openGpu } from './open-gpu.ts';
export { rewriteShaders, withReversedLanes } from './rewrite-shaders.ts';
export { watchPasses } from './watch-passes.ts';
