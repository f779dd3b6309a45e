export { webgpuEngine } from './attention/engine.ts';
export {
  type BackwardPlanOptions,
  checkSupport,
  type EncodeOptions,
  type Plan,
  type PlanOptions,
  planSdpa,
  planSdpaBackward,
} from './attention/plan.ts';
export { sdpa, sdpaBackward } from './attention/sdpa.ts';
export type { GradientDescs } from './attention/tensors.ts';
export { type Capabilities, guaranteedCapabilities } from './device/capabilities.ts';
export { type ContextOptions, createContext, type GpuContext, type WrapDesc } from './device/context.ts';
export type { GpuTensor } from './device/gpu-tensor.ts';
export type { MemoryUse } from './device/memory.ts';
export type { BufferSlice, PlanTensor } from './kernel/kernel-plan.ts';
export type { KernelSpec } from './kernel/kernel-spec.ts';
export type { StorageBinding, UniformField } from './kernel/shader-part.ts';
