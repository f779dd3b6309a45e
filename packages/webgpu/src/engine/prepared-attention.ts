import { type AttentionProblem, type BackwardProblem, dtypeTraits } from '@tilewise/core';
import type { PreparedAttention } from '@tilewise/core/primitive';
import type { Plan } from '../attention/plan.ts';
import { planSdpaBackward } from '../attention/plan-backward.ts';
import { planSdpa } from '../attention/plan-forward.ts';
import type { GpuContext } from '../device/context.ts';
import type { GpuTensor } from '../device/gpu-tensor.ts';
import type { PlanBuffer } from '../kernel/plan-tensors.ts';
import type { Recorder } from './recorder.ts';

/** Attention on a context's device, recorded with whatever else its engine runs. */
export function prepareAttention(
  ctx: GpuContext,
  recorder: Recorder,
  problem: AttentionProblem | BackwardProblem,
): PreparedAttention<GpuTensor> {
  const plans = new Map<string, Plan>();
  const planFor = (unaligned: readonly string[]): Plan => {
    const key = unaligned.join();
    const known = plans.get(key);
    if (known) return known;
    const plan =
      'forward' in problem
        ? planSdpaBackward(ctx, problem, { unaligned })
        : planSdpa(ctx, problem, { unaligned });
    plans.set(key, plan);
    return plan;
  };
  const { workspaceBytes } = planFor([]);
  // Numbers of runs that the caller submits stay where they are: nobody says when they are done with.
  let isCallersToo = false;
  return {
    workspaceBytes,
    run(tensors, { seed, offset, scale, workspace } = {}) {
      const given = Object.entries(tensors);
      const plan = planFor(
        given
          .filter(([, { dtype, byteOffset }]) => byteOffset % (4 * dtypeTraits[dtype].bytes) !== 0)
          .map(([name]) => name),
      );
      const buffers: Record<string, PlanBuffer> = { ...tensors };
      if (workspace) buffers.workspace = { buffer: workspace.buffer, offset: workspace.byteOffset };
      recorder.record(({ pass, afterwards }) => {
        plan.encode(pass, buffers, { seed, offset, scale });
        isCallersToo ||= afterwards === null;
        afterwards?.push(() => {
          if (!isCallersToo) plan.retire();
        });
      });
    },
    release() {
      for (const plan of plans.values()) plan.destroy();
      plans.clear();
    },
  };
}
