import {
  type AttentionProblem,
  type BackwardProblem,
  checkProblem,
  InvalidArgumentError,
} from '@tilewise/core';
import { describeValue } from '@tilewise/philox/errors';
import type { GpuContext } from '../runtime/context.ts';
import { planSdpaBackward } from './plan/plan-backward.ts';
import { planSdpa } from './plan/plan-forward.ts';

/**
 * Compiles the kernels of problems, each kernel once, in parallel and in the background, so that the first
 * eager calls and plans of these problems compile nothing.
 * @throws UnsupportedError if the device cannot run a problem; InvalidArgumentError if `problems` is not an
 * array; otherwise as `validate`. Rejects as `warmUp` of a plan does.
 */
export async function warmUp(
  ctx: GpuContext,
  problems: readonly (AttentionProblem | BackwardProblem)[],
): Promise<void> {
  if (!Array.isArray(problems))
    throw new InvalidArgumentError('problems', `must be an array, got ${describeValue(problems)}`);
  const plans = problems.map((problem: AttentionProblem | BackwardProblem) => {
    checkProblem(problem);
    return 'forward' in problem ? planSdpaBackward(ctx, problem) : planSdpa(ctx, problem);
  });
  await Promise.all(plans.map(plan => plan.warmUp()));
}
