export { webgpuEngine } from './api/engine/webgpu-engine.ts';
export { mergePartials } from './api/merge-partials.ts';
export type { EncodeOptions, Plan, PlanOptions } from './api/plan/plan.ts';
export {
  type BackwardPlanOptions,
  checkSupport,
  type GradientDescs,
  planSdpaBackward,
} from './api/plan/plan-backward.ts';
export { planSdpa } from './api/plan/plan-forward.ts';
export type { Uint64 } from './api/plan/uint64.ts';
export { sdpa, sdpaBackward } from './api/sdpa.ts';
export { type SdpaVjp, sdpaVjp } from './api/vjp.ts';
export { warmUp } from './api/warm-up.ts';
export type { TileBackend } from './attention/tiles/interface/tile-backend.ts';
export type { LaneGrid } from './attention/tiles/scores/score-vectors.ts';
export type { Stationary, Tile, TileRole } from './attention/tiles/tile.ts';
export type { TileChoice, TileSelector } from './attention/tiles/tile-choice.ts';
export type { KernelSpec } from './codegen/kernel-spec.ts';
export type { StorageBinding, UniformField } from './codegen/shader-part.ts';
export type { MemoryUse } from './device/buffer-pool.ts';
export { type Capabilities, guaranteedCapabilities } from './device/capabilities/capabilities.ts';
export type { SubgroupMatrixConfig } from './device/capabilities/subgroup-matrix-configs.ts';
export type { GpuContext } from './runtime/context.ts';
export { type ContextOptions, createContext } from './runtime/create-context.ts';
export type { GpuTensor } from './runtime/memory/gpu-tensor.ts';
export type { WrapDesc } from './runtime/memory/placement.ts';
export type { BufferSlice, PlanBuffer, PlanTensor } from './runtime/plan/plan-tensors.ts';
