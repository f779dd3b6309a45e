import type { AttentionProblem, BackwardProblem } from '@tilewise/core';
import { checkProblem } from '@tilewise/core/engine';
import type { PreparedAttention } from '@tilewise/core/primitive';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { KernelMemo } from '../../runtime/kernel-memo.ts';
import type { GpuTensor } from '../../runtime/memory/gpu-tensor.ts';
import { recordedPlans } from '../../runtime/recorded-plans.ts';
import type { Recorder } from '../../runtime/recorder.ts';
import type { EncodeOptions } from './plan.ts';
import { planCheckedBackward } from './plan-backward.ts';
import { planCheckedForward } from './plan-forward.ts';

/** Prepares attention on a context's device, so that an engine records it together with its other work. */
export function prepareAttention(
  ctx: GpuContext,
  recorder: Recorder,
  memo: KernelMemo,
  tools: KernelTools,
  problem: AttentionProblem | BackwardProblem,
): PreparedAttention<GpuTensor> {
  checkProblem(problem);
  const plans = recordedPlans<EncodeOptions>(recorder, ({ unaligned }) => {
    const { parts } = memo([problem, unaligned], () =>
      'forward' in problem
        ? planCheckedBackward(ctx, problem, { unaligned }, tools)
        : planCheckedForward(ctx, problem, { unaligned }, tools),
    );
    return ctx.plan(parts);
  });
  return {
    workspaceBytes: plans.workspaceBytes,
    run: (tensors, { workspace, ...numbers } = {}) => plans.run(tensors, workspace, numbers),
    bind: (tensors, { workspace, ...numbers } = {}) => plans.bind(tensors, workspace, numbers),
    release: () => plans.release(),
  };
}
