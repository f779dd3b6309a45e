import {
  type AttentionProblem,
  type BackwardProblem,
  checkProblem,
  type Support,
  validateBackward,
} from '@tilewise/core';
import { checkOptions } from '@tilewise/philox/errors';
import type { KernelTools } from '../attention/kernel-config.ts';
import type { KernelTarget } from '../attention/kernel-target.ts';
import { backwardFootprints } from '../attention/plan/footprints.ts';
import { backwardKernels } from '../attention/plan/kernels.ts';
import { backwardTensorSpans, type GradientDescs } from '../attention/plan/spans.ts';
import { choiceReasons } from '../attention/tiles/tile-choice.ts';
import { checkContext, checkKind } from '../device/check-kind.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { PlanParts } from '../runtime/plan/kernel-plan.ts';
import type { KernelParts } from '../runtime/plan/plan-layout.ts';
import { allTools } from './all-tools.ts';
import { expectedBackwardTensors } from './expected-tensors.ts';
import {
  checkResultLayout,
  demandSupport,
  type EncodeOptions,
  makePlan,
  type Plan,
  type PlanOptions,
  unalignedNames,
} from './plan.ts';
import { checkForwardSupport } from './plan-forward.ts';
import { backwardReasons, support } from './support.ts';

export interface BackwardPlanOptions extends PlanOptions {
  /** Layouts of the gradients. Default: those of the problem, which are those of q, k and v where they are not ragged. */
  readonly layouts?: GradientDescs | undefined;
}

/** Whether this context can run a problem, and why not. */
export function checkSupport(ctx: GpuContext, problem: AttentionProblem | BackwardProblem): Support {
  checkKind('ctx', ctx, 'a GpuContext');
  checkProblem(problem);
  if (!('forward' in problem)) return checkForwardSupport(ctx, problem, allTools);
  return backwardSupport(ctx, problem, problem, allTools);
}

/** The same of a backward problem whose gradients have these layouts, with the tools that its options need. */
export function backwardSupport(
  ctx: GpuContext,
  problem: BackwardProblem,
  layouts: GradientDescs,
  tools: KernelTools,
): Support {
  const { forward, dO } = problem;
  const operands = [forward.q, forward.k, forward.v, dO];
  const reasons = [...backwardReasons(problem), ...choiceReasons(['dq', 'dkdv'], forward, operands, ctx)];
  if (reasons.length > 0) return support(reasons);
  return support(ctx.planReasons(backwardParts(ctx, problem, layouts, new Set(), tools)));
}

function backwardParts(
  target: KernelTarget,
  problem: BackwardProblem,
  layouts: GradientDescs,
  unaligned: ReadonlySet<string>,
  tools: KernelTools,
): KernelParts {
  return {
    kernels: backwardKernels(problem, layouts, target, unaligned, tools),
    spans: backwardTensorSpans(problem, layouts, tools),
    footprints: backwardFootprints(problem, layouts),
  };
}

/**
 * A plan for the gradients in `problem.gradients` from q, k, v, o, lse, dO, dLse and the tensors of the options. dq, dk and dv
 * are laid out as the problem says (like q, k and v) unless `layouts` says otherwise; dbias is contiguous in the bias's own shape, dAlibi and dsink
 * are f32 (Hq). They are the same bits in every run.
 * @throws UnsupportedError when `checkSupport` has reasons; InvalidArgumentError when a gradient's layout has two elements in
 * one place, as that of an expanded q, k or v has; else as `validateBackward`.
 */
export function planSdpaBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  options: BackwardPlanOptions = {},
): Plan {
  checkContext(ctx);
  checkOptions('options', options, ['layouts', 'unaligned']);
  validateBackward(problem);
  const { layouts = problem } = options;
  const { forward, gradients } = problem;
  const { B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv } = forward;
  const shapes = { dq: [B, Hq, Sq, Dqk], dk: [B, Hk, Skv, Dqk], dv: [B, Hv, Skv, Dv] } as const;
  for (const name of ['dq', 'dk', 'dv'] as const) {
    if (gradients.includes(name)) checkResultLayout(`layouts.${name}`, layouts[name], shapes[name]);
  }
  return planBackward(ctx, problem, options, allTools, expectedBackwardTensors(problem, layouts));
}

/** The same for a problem and layouts that are known to be valid, with the tools that its options need. */
export function planBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  options: BackwardPlanOptions,
  tools: KernelTools,
  expected: PlanParts<EncodeOptions>['expected'] = {},
): Plan {
  demandSupport(support(backwardReasons(problem)));
  const { layouts = problem } = options;
  const parts = backwardParts(ctx, problem, layouts, unalignedNames(options), tools);
  demandSupport(support(ctx.planReasons(parts)));
  return makePlan(ctx, { ...parts, expected }, problem.forward);
}
