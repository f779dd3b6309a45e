import { type AttentionProblem, type Support, validate } from '@tilewise/core';
import { checkOptions } from '@tilewise/philox/errors';
import type { KernelTools } from '../attention/kernel-config.ts';
import type { KernelTarget } from '../attention/kernel-target.ts';
import { forwardRole, forwardShape } from '../attention/kernels/forward/forward-shape.ts';
import { forwardFootprints } from '../attention/plan/footprints.ts';
import { forwardKernels } from '../attention/plan/kernels.ts';
import { forwardTensorSpans } from '../attention/plan/spans.ts';
import { choiceReasons } from '../attention/tiles/tile-choice.ts';
import { checkContext } from '../device/check-kind.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { PlanParts } from '../runtime/plan/kernel-plan.ts';
import type { KernelParts } from '../runtime/plan/plan-layout.ts';
import { allTools } from './all-tools.ts';
import { expectedTensors } from './expected-tensors.ts';
import {
  checkResultLayout,
  demandSupport,
  type EncodeOptions,
  makePlan,
  type Plan,
  type PlanOptions,
  unalignedNames,
} from './plan.ts';
import { forwardReasons, support } from './support.ts';

/** Whether this context can run a forward problem, and why not. */
export function checkForwardSupport(ctx: GpuContext, problem: AttentionProblem, tools: KernelTools): Support {
  const operands = [problem.q, problem.k, problem.v];
  const reasons = [
    ...forwardReasons(problem),
    ...choiceReasons([forwardRole(problem)], problem, operands, ctx),
  ];
  if (reasons.length > 0) return support(reasons);
  return support(ctx.planReasons(forwardParts(ctx, problem, new Set(), tools)));
}

function forwardParts(
  target: KernelTarget,
  problem: AttentionProblem,
  unaligned: ReadonlySet<string>,
  tools: KernelTools,
): KernelParts {
  const shape = forwardShape(problem, target);
  return {
    kernels: forwardKernels(problem, target, unaligned, tools, shape),
    spans: forwardTensorSpans(problem, shape, tools),
    footprints: forwardFootprints(problem, shape),
  };
}

/**
 * A plan for o, lse (and max, sumExp, if asked for) from q, k, v and the tensors of the options, by the names of
 * `SdpaOptions`; those that mods capture are `captures.NAME`, and those of MXFP8 `mxfp8.NAME`. `fp8` is one f32 list: the scalars as in
 * `fp8ScalarNames`, then amaxS, amaxO, amaxDQ, amaxDK, amaxDV, amaxDP, which are results. Layouts are those of the problem; lse-like tensors are contiguous
 * f32.
 * @throws UnsupportedError when `checkSupport` has reasons; else as `validate`.
 */
export function planSdpa(ctx: GpuContext, problem: AttentionProblem, options: PlanOptions = {}): Plan {
  checkContext(ctx);
  checkOptions('options', options, ['unaligned']);
  validate(problem);
  const { B, Hq, Sq, Dv } = problem;
  checkResultLayout('o', problem.o, [B, Hq, Sq, Dv]);
  return planForward(ctx, problem, options, allTools, expectedTensors(problem));
}

/** The same for a problem and a layout of o that are known to be valid, with the tools that its options need. */
export function planForward(
  ctx: GpuContext,
  problem: AttentionProblem,
  options: PlanOptions,
  tools: KernelTools,
  expected: PlanParts<EncodeOptions>['expected'] = {},
): Plan {
  demandSupport(support(forwardReasons(problem)));
  const parts = forwardParts(ctx, problem, unalignedNames(options), tools);
  demandSupport(support(ctx.planReasons(parts)));
  return makePlan(ctx, { ...parts, expected }, problem);
}
