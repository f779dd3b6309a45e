import {
  type BackwardPlanOptions,
  type BufferSlice,
  type ContextOptions,
  createContext,
  type EncodeOptions,
  type GpuTensor,
  type PlanOptions,
  sdpa,
  type TileChoice,
  type WrapDesc,
} from '@tilewise/webgpu';
import type { DiagnoseOptions } from '@tilewise/webgpu/doctor';
import type { TuneOptions } from '@tilewise/webgpu/tune';
import { type Closed, none } from './optional.ts';

none<Closed<ContextOptions>>();
none<Closed<WrapDesc>>();
none<Closed<PlanOptions>>();
none<Closed<BackwardPlanOptions>>();
none<Closed<EncodeOptions>>();
none<Closed<BufferSlice>>();
none<Closed<TileChoice>>();
none<Closed<DiagnoseOptions>>();
none<Closed<TuneOptions>>();

/** A caller can pass on options that may be undefined. */
export async function attention(q: GpuTensor, maybe: { readonly scale?: number }): Promise<GpuTensor> {
  const ctx = await createContext({ device: undefined });
  return sdpa(ctx, q, q, q, { scale: maybe.scale }).o;
}
