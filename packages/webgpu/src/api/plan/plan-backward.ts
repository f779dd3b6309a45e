import { type AttentionProblem, type BackwardProblem, type Support, validateBackward } from '@tilewise/core';
import { checkProblem } from '@tilewise/core/engine';
import { checkOptions } from '@tilewise/philox/errors';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import type { PlanOn } from '../../attention/plan/attention-plan.ts';
import { backwardPlan } from '../../attention/plan/backward-plan.ts';
import { choiceReasons } from '../../attention/tiles/tile-choice.ts';
import { checkContext, checkKind } from '../../device/check-kind.ts';
import { demandSupport, support } from '../../device/support.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { KernelMemo } from '../../runtime/kernel-memo.ts';
import type { KernelPlan } from '../../runtime/plan/kernel-plan.ts';
import { allTools } from '../tools/all-tools.ts';
import { checkResultLayout, numbersOfCall, unalignedNames } from './check-plan-options.ts';
import { type CallNumbers, makePlan, type Plan, type PlanOptions } from './plan.ts';
import { checkForwardSupport } from './plan-forward.ts';
import { backwardReasons } from './support.ts';

/** Layouts of the gradients of q, k and v. */
export type GradientDescs = Pick<BackwardProblem, 'dq' | 'dk' | 'dv'>;

/** The options of `planSdpaBackward`. */
export interface BackwardPlanOptions extends PlanOptions {
  /**
   * Layouts of the gradients. Default: the layouts in the problem, which are those of q, k and v unless these
   * are ragged.
   */
  readonly layouts?: Partial<GradientDescs> | undefined;
}

/**
 * Whether this context can run a problem, and if not, every reason why.
 * @param problem from `normalise` or `normaliseBackward` of `@tilewise/core`.
 * @throws InvalidArgumentError if `ctx` is not a GpuContext or `problem` is not a problem.
 */
export function checkSupport(ctx: GpuContext, problem: AttentionProblem | BackwardProblem): Support {
  return supportWith(ctx, problem, allTools);
}

/**
 * `checkSupport` with an engine's own tools.
 * @param memo remembers the answers. Default: every call finds the answer anew.
 */
export function supportWith(
  ctx: GpuContext,
  problem: AttentionProblem | BackwardProblem,
  tools: KernelTools,
  memo: KernelMemo = (_, make) => make(),
): Support {
  checkKind('ctx', ctx, 'a GpuContext');
  checkProblem(problem);
  return memo(problem, () =>
    'forward' in problem ? backwardSupport(ctx, problem, tools) : checkForwardSupport(ctx, problem, tools),
  );
}

/** Whether this context can run a backward problem, using the tools that the problem's options need. */
export function backwardSupport(ctx: GpuContext, problem: BackwardProblem, tools: KernelTools): Support {
  const { forward, dO } = problem;
  const operands = [forward.q, forward.k, forward.v, dO];
  const tiles = choiceReasons(['dq', 'dkdv'], forward, operands, ctx);
  const reasons = [...backwardReasons(problem, tools), ...tiles];
  if (reasons.length > 0) return support(reasons);
  return support(ctx.planReasons(backwardPlan(problem, { target: ctx, tools })));
}

/**
 * Plans the gradients in `problem.gradients`. The plan reads q, k, v, o, lse, dO, dLse and the tensors of the
 * options. dq, dk and dv are laid out as the problem says (by default like q, k and v) unless `layouts` says
 * otherwise; dbias is contiguous in the bias's own shape, and dAlibi and dsink are f32 (Hq). If the score mod
 * loads a float tensor `captures.NAME`, the plan also writes `dCaptures.NAME`, contiguous in its shape and
 * dtype. Every run gives the same bits.
 * @param problem from `normaliseBackward` of `@tilewise/core`.
 * @throws UnsupportedError if `checkSupport` gives reasons; InvalidArgumentError if a gradient's layout gives
 * two elements the same offset, as the layout of an expanded q, k or v does; otherwise as `validateBackward`.
 */
export function planSdpaBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  options: BackwardPlanOptions = {},
): Plan {
  return planCheckedBackward(ctx, problem, options, allTools);
}

/** `planSdpaBackward` with an engine's own tools. */
export function planCheckedBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  options: BackwardPlanOptions,
  tools: KernelTools,
): Plan {
  checkContext(ctx);
  checkOptions('options', options, ['layouts', 'unaligned']);
  checkProblem(problem);
  const { layouts = {} } = options;
  checkOptions('options.layouts', layouts, ['dq', 'dk', 'dv']);
  const { dq = problem.dq, dk = problem.dk, dv = problem.dv } = layouts;
  const planned: BackwardProblem = { ...problem, dq, dk, dv };
  validateBackward(planned);
  const { forward, gradients } = planned;
  const { B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv } = forward;
  const shapes = { dq: [B, Hq, Sq, Dqk], dk: [B, Hk, Skv, Dqk], dv: [B, Hv, Skv, Dv] } as const;
  for (const name of ['dq', 'dk', 'dv'] as const) {
    if (gradients.includes(name)) checkResultLayout(`layouts.${name}`, planned[name], shapes[name]);
  }
  return planBackward(ctx, planned, { tools, unaligned: unalignedNames(options) }, numbersOfCall);
}

/**
 * Plans a problem that has been validated, with the tools that its options need.
 * @param numbersOf as for `makePlan`.
 */
export function planBackward<Options>(
  ctx: GpuContext,
  problem: BackwardProblem,
  on: Pick<PlanOn, 'tools' | 'unaligned'>,
  numbersOf: (options: Options) => CallNumbers,
): KernelPlan<Options> {
  demandSupport(backwardReasons(problem, on.tools));
  return makePlan(ctx, backwardPlan(problem, { target: ctx, ...on }), problem.forward, numbersOf);
}
