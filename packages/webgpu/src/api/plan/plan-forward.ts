import { type AttentionProblem, type Support, validate } from '@tilewise/core';
import { checkOptions } from '@tilewise/philox/errors';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import { forwardRole } from '../../attention/kernels/forward/forward-shape.ts';
import type { PlanOn } from '../../attention/plan/attention-plan.ts';
import { forwardPlan } from '../../attention/plan/forward-plan.ts';
import { choiceReasons } from '../../attention/tiles/tile-choice.ts';
import { checkContext } from '../../device/check-kind.ts';
import { demandSupport, support } from '../../device/support.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { KernelPlan } from '../../runtime/plan/kernel-plan.ts';
import { forwardTools } from '../tools/all-tools.ts';
import { checkResultLayout, numbersOfCall, unalignedNames } from './check-plan-options.ts';
import { type CallNumbers, makePlan, type Plan, type PlanOptions } from './plan.ts';
import { forwardReasons } from './support.ts';

/** Whether this context can run a forward problem, and if not, why. */
export function checkForwardSupport(ctx: GpuContext, problem: AttentionProblem, tools: KernelTools): Support {
  const operands = [problem.q, problem.k, problem.v];
  const tiles = choiceReasons([forwardRole(problem)], problem, operands, ctx);
  const reasons = [...forwardReasons(problem, tools), ...tiles];
  if (reasons.length > 0) return support(reasons);
  return support(ctx.planReasons(forwardPlan(problem, { target: ctx, tools })));
}

/**
 * Plans o and lse, and what else the problem asks for: max and sumExp, and the dropout mask, which is named
 * `outputs.dropoutMask`. The plan reads q, k, v and the tensors of the options, by their names in
 * `SdpaOptions`; tensors that mods capture are named `captures.NAME`, and those of MXFP8 `mxfp8.NAME`. `fp8`
 * is one f32 list: the scalars in the order of `fp8ScalarNames`, then the results amaxS, amaxO, amaxDQ,
 * amaxDK, amaxDV and amaxDP. Layouts are those of the problem; lse, max and sumExp are contiguous f32, and
 * the mask is contiguous u8 (B, Hq, Sq, Skv).
 * @param problem from `normalise` of `@tilewise/core`.
 * @throws UnsupportedError if `checkSupport` gives reasons; otherwise as `validate`.
 */
export function planSdpa(ctx: GpuContext, problem: AttentionProblem, options: PlanOptions = {}): Plan {
  return planCheckedForward(ctx, problem, options, forwardTools);
}

/** `planSdpa` with an engine's own tools. */
export function planCheckedForward(
  ctx: GpuContext,
  problem: AttentionProblem,
  options: PlanOptions,
  tools: KernelTools,
): Plan {
  checkContext(ctx);
  checkOptions('options', options, ['unaligned']);
  validate(problem);
  const { B, Hq, Sq, Dv } = problem;
  checkResultLayout('o', problem.o, [B, Hq, Sq, Dv]);
  return planForward(ctx, problem, { tools, unaligned: unalignedNames(options) }, numbersOfCall);
}

/**
 * Plans a problem that has been validated, with the tools that its options need.
 * @param numbersOf as for `makePlan`.
 */
export function planForward<Options>(
  ctx: GpuContext,
  problem: AttentionProblem,
  on: Pick<PlanOn, 'tools' | 'unaligned'>,
  numbersOf: (options: Options) => CallNumbers,
): KernelPlan<Options> {
  demandSupport(forwardReasons(problem, on.tools));
  return makePlan(ctx, forwardPlan(problem, { target: ctx, ...on }), problem, numbersOf);
}
