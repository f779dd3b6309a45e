import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { type GpuContext, type Plan, planSdpa, planSdpaBackward } from '@tilewise/webgpu';
import { bufferOf, emptyBuffer, readBuffer } from '../../gpu/buffers.ts';
import { kernelVariants } from '../../gpu/kernel-variant.ts';
import type { EncodePlan } from '../../gpu/trace-once.ts';
import { type AttentionCase, copiesOf } from './attention-case.ts';

/** Attention of one case on the GPU, as plans that encode into a pass. */
export interface AttentionPlans {
  readonly forward: PlannedPass;
  readonly backward: PlannedPass;
  /** A result of the last run, f32. */
  read(name: 'o' | 'lse' | 'dq' | 'dk' | 'dv'): Promise<Tensor>;
  destroy(): void;
}

export interface PlannedPass {
  /** The kernels, and the features that they use. */
  readonly kernels: string;
  readonly encode: EncodePlan;
}

type Buffers = Readonly<Record<string, GPUBuffer>>;

/**
 * Plans with their buffers. There are several copies of the inputs, more than caches hold, and each run uses
 * the next copy; all runs share results and workspace.
 */
export function attentionPlans(ctx: GpuContext, of: AttentionCase): AttentionPlans {
  const { q, k, v, dO, causal, shape, dtype } = of;
  const { device } = ctx;
  const [B, H, S] = shape;
  const lse = Tensor.zeros([B, H, S]);
  const forward = planSdpa(ctx, normalise({ q, k, v }, { causal }).problem);
  const backward = planSdpaBackward(ctx, normaliseBackward({ q, k, v, o: q, lse, dO }, { causal }).problem);
  const like = (tensor: Tensor): GPUBuffer => emptyBuffer(device, tensor.data.byteLength);
  const results: Buffers = { o: like(q), lse: like(lse), dq: like(q), dk: like(k), dv: like(v) };
  const workspace = (plan: Plan): GPUBuffer => emptyBuffer(device, plan.workspaceBytes);
  const spaces = [workspace(forward), workspace(backward)];
  const copies = copiesOf(
    of,
    (): Buffers => ({
      ...{ q: bufferOf(device, q), k: bufferOf(device, k), v: bufferOf(device, v), dO: bufferOf(device, dO) },
    }),
  );
  const planned = (plan: Plan, space: GPUBuffer): PlannedPass => ({
    kernels: kernelVariants(plan.kernels),
    encode: (target, round) =>
      plan.encode(target, { ...copies[round % copies.length], ...results, workspace: space }),
  });
  return {
    forward: planned(forward, spaces[0]),
    backward: planned(backward, spaces[1]),
    async read(name) {
      const desc = name === 'lse' ? lse : Tensor.zeros(shape, { dtype });
      const data = desc.data;
      const bytes = await readBuffer(device, results[name], data.byteLength);
      new Uint8Array(data.buffer).set(new Uint8Array(bytes));
      return desc.cast('f32');
    },
    destroy() {
      forward.destroy();
      backward.destroy();
      for (const buffer of [...spaces, ...[results, ...copies].flatMap(Object.values)]) buffer.destroy();
    },
  };
}
