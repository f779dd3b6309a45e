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
import { forwardTools } from '../tools/all-tools.ts';
import { checkEncodeOptions, checkResultLayout, unalignedNames } from './check-plan-options.ts';
import { type EncodeOptions, makePlan, type Plan, type PlanOptions } from './plan.ts';
import { forwardReasons } from './support.ts';

/** Whether this context can run a forward problem, and why not. */
export function checkForwardSupport(ctx: GpuContext, problem: AttentionProblem, tools: KernelTools): Support {
  const operands = [problem.q, problem.k, problem.v];
  const tiles = choiceReasons([forwardRole(problem)], problem, operands, ctx);
  const reasons = [...forwardReasons(problem, tools), ...tiles];
  if (reasons.length > 0) return support(reasons);
  return support(ctx.planReasons(forwardPlan(problem, { target: ctx, tools })));
}

/**
 * A plan for o, lse (and max, sumExp, if asked for) from q, k, v and the tensors of the options, by the names
 * of `SdpaOptions`; those that mods capture are `captures.NAME`, and those of MXFP8 `mxfp8.NAME`. `fp8` is
 * one f32 list: the scalars as in `fp8ScalarNames`, then amaxS, amaxO, amaxDQ, amaxDK, amaxDV, amaxDP, which
 * are results. Layouts are those of the problem; lse-like tensors are contiguous f32.
 * @throws UnsupportedError when `checkSupport` has reasons; else as `validate`.
 */
export function planSdpa(ctx: GpuContext, problem: AttentionProblem, options: PlanOptions = {}): Plan {
  return planCheckedForward(ctx, problem, options, forwardTools);
}

/** `planSdpa` with the tools that an engine has. */
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
  return planForward(ctx, problem, { tools, unaligned: unalignedNames(options) }, checkEncodeOptions);
}

/**
 * The plan of a problem that is known to be valid, with the tools that its options need.
 * @param check throws for wrong options of an `encode` by the caller.
 */
export function planForward(
  ctx: GpuContext,
  problem: AttentionProblem,
  on: Pick<PlanOn, 'tools' | 'unaligned'>,
  check?: (options: EncodeOptions) => void,
): Plan {
  demandSupport(forwardReasons(problem, on.tools));
  return makePlan(ctx, forwardPlan(problem, { target: ctx, ...on }), problem, check);
}
