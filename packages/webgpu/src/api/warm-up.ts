import type { AttentionProblem, BackwardProblem } from '@tilewise/core';
import type { GpuContext } from '../runtime/context.ts';
import { planSdpaBackward } from './plan/plan-backward.ts';
import { planSdpa } from './plan/plan-forward.ts';

/**
 * Compiles the kernels of problems, each kernel once, in parallel and in the background, so that the first
 * eager calls and plans of these problems compile nothing.
 * @throws UnsupportedError if the device cannot run a problem; otherwise as `validate`. Rejects as `warmUp`
 * of a plan does.
 */
export async function warmUp(
  ctx: GpuContext,
  problems: readonly (AttentionProblem | BackwardProblem)[],
): Promise<void> {
  const plans = problems.map(problem =>
    'forward' in problem ? planSdpaBackward(ctx, problem) : planSdpa(ctx, problem),
  );
  await Promise.all(plans.map(plan => plan.warmUp()));
}
