import {
  type AttentionProblem,
  type BackwardProblem,
  InvalidArgumentError,
  isOverlapping,
} from '@tilewise/core';
import { checkProblem, contiguousDesc } from '@tilewise/core/engine';
import { describeValue } from '@tilewise/philox/errors';
import type { GpuContext } from '../runtime/context.ts';
import type { Plan } from './plan/plan.ts';
import { planSdpaBackward } from './plan/plan-backward.ts';
import { planSdpa } from './plan/plan-forward.ts';

/**
 * Compiles the kernels of problems, each kernel once, in parallel and in the background, so that the first
 * eager calls and plans of these problems compile nothing. Tensors that do not start at a multiple of four
 * elements need other kernels, which are not compiled here.
 * @throws UnsupportedError if the device cannot run a problem; InvalidArgumentError if `problems` is not an
 * array; otherwise as `validate`. Rejects as `warmUp` of a plan does.
 */
export async function warmUp(
  ctx: GpuContext,
  problems: readonly (AttentionProblem | BackwardProblem)[],
): Promise<void> {
  if (!Array.isArray(problems))
    throw new InvalidArgumentError('problems', `must be an array, got ${describeValue(problems)}`);
  const plans = problems.flatMap((problem: AttentionProblem | BackwardProblem) => {
    checkProblem(problem);
    return 'forward' in problem ? backwardPlans(ctx, problem) : [planSdpa(ctx, problem)];
  });
  await Promise.all(plans.map(plan => plan.warmUp()));
}

/**
 * The plan that an eager call makes, whose gradients are contiguous, and the plan of the problem itself,
 * unless q, k or v is expanded, so that this plan needs other layouts.
 */
function backwardPlans(ctx: GpuContext, problem: BackwardProblem): Plan[] {
  const names = (['dq', 'dk', 'dv'] as const).filter(name => problem.gradients.includes(name));
  const layouts = Object.fromEntries(names.map(name => [name, contiguousDesc(problem[name])]));
  const eager = planSdpaBackward(ctx, problem, { layouts });
  const isExpanded = names.some(name => isOverlapping(problem[name]));
  return isExpanded ? [eager] : [eager, planSdpaBackward(ctx, problem)];
}
