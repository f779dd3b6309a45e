export { type Counts, countingDevice } from './counting-device.ts';
export { countWork, type Work } from './devices/count-work.ts';
export { rewriteShaders, withReversedLanes } from './devices/rewrite-shaders.ts';
export { watchPasses } from './devices/watch-passes.ts';
export type { GpuHost, GpuHostKind, OpenGpuOptions } from './open-gpu.ts';
export { openGpu } from './open-gpu.ts';
