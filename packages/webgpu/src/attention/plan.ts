import {
  type AttentionProblem,
  type BackwardProblem,
  backwardRules,
  checkRules,
  InvalidArgumentError,
  InvalidShapeError,
  type OperandDesc,
  type Support,
  type U64Words,
  UnsupportedError,
  validate,
} from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import { type BufferSlice, makeKernelPlan, type PlanTensor } from '../kernel/kernel-plan.ts';
import type { KernelSpec } from '../kernel/kernel-spec.ts';
import { backwardKernels, forwardKernels } from './kernels.ts';
import { deviceReasons, problemReasons, support } from './support.ts';
import { backwardTensorSpans, type GradientDescs, overlapsItself, tensorSpans } from './tensors.ts';

/** Numbers that may change from one encode to the next without a new plan. */
export interface EncodeOptions {
  /** 64-bit words of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: U64Words;
  readonly offset?: U64Words;
}

/**
 * Attention on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors;
 * the parameters of a call lie in a small uniform buffer per kernel, made anew only when they change.
 */
export interface Plan {
  /** What `encode` needs, by name, besides the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when none is needed. Its content need not be kept. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Records the work.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or misaligned.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, BufferSlice>>,
    options?: EncodeOptions,
  ): void;
  /** Compiles all kernels in the background. Without it the first `encode` compiles. */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last; they must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls; they must have been submitted. */
  destroy(): void;
}

/** Choices of a plan that the problem does not hold. */
export interface PlanOptions {
  /**
   * Tensors whose slices may start at any element. Others must start at a multiple of four elements (see `tensors`), so
   * that they can be moved in vectors.
   */
  readonly unaligned?: Iterable<string>;
}

export interface BackwardPlanOptions extends PlanOptions {
  /** Layouts of the gradients. Default: those of q, k and v. */
  readonly layouts?: GradientDescs;
}

const noNames: ReadonlySet<string> = new Set();

/** Whether this context can run a problem, and why not. */
export function checkSupport(ctx: GpuContext, problem: AttentionProblem | BackwardProblem): Support {
  const reasons = problemReasons(problem);
  if (reasons.length > 0) return support(reasons);
  const kernels =
    'forward' in problem
      ? backwardKernels(problem, layoutsOf(problem), ctx.capabilities, noNames)
      : forwardKernels(problem, noNames);
  return support(deviceReasons(kernels, ctx.capabilities));
}

/**
 * A plan for o, lse (and max, sumExp, if asked for) from q, k, v and the tensors of the options, by the names of
 * `SdpaOptions`. Layouts are those of the problem; lse-like tensors are contiguous f32.
 * @throws UnsupportedError when `checkSupport` has reasons; else as `validate`.
 */
export function planSdpa(ctx: GpuContext, problem: AttentionProblem, options: PlanOptions = {}): Plan {
  ctx.checkAlive();
  validate(problem);
  checkResultLayout('o', problem.o, problem.o.shape);
  demand(checkSupport(ctx, problem));
  const kernels = forwardKernels(problem, new Set(options.unaligned));
  return makePlan(ctx, kernels, tensorSpans(problem), problem);
}

/**
 * A plan for the gradients in `problem.gradients` from q, k, v, o, lse, dO, dLse and the tensors of the options. dq, dk and dv
 * are laid out like q, k and v unless `layouts` says otherwise; dbias is contiguous in the bias's own shape, dAlibi and dsink
 * are f32 (Hq). They are the same bits in every run.
 * @throws UnsupportedError when `checkSupport` has reasons; InvalidArgumentError when a gradient's layout has two elements in
 * one place, as that of an expanded q, k or v has; else as `validateBackward`.
 */
export function planSdpaBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  { layouts = layoutsOf(problem), unaligned }: BackwardPlanOptions = {},
): Plan {
  ctx.checkAlive();
  const { forward, gradients } = problem;
  checkRules(backwardRules, problem);
  validate(forward);
  demand(checkSupport(ctx, problem));
  if (gradients.includes('dq')) checkResultLayout('layouts.dq', layouts.dq, forward.q.shape);
  if (gradients.includes('dk')) checkResultLayout('layouts.dk', layouts.dk, forward.k.shape);
  if (gradients.includes('dv')) checkResultLayout('layouts.dv', layouts.dv, forward.v.shape);
  const kernels = backwardKernels(problem, layouts, ctx.capabilities, new Set(unaligned));
  return makePlan(ctx, kernels, backwardTensorSpans(problem, layouts), forward);
}

function layoutsOf({ forward: { q, k, v } }: BackwardProblem): GradientDescs {
  return { dq: q, dk: k, dv: v };
}

function demand({ supported, reasons }: Support): void {
  if (!supported) throw new UnsupportedError('webgpu', reasons);
}

function checkResultLayout(argument: string, desc: OperandDesc, shape: OperandDesc['shape']): void {
  if (desc.shape.some((n, d) => n !== shape[d])) {
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${desc.shape}]`);
  }
  if (overlapsItself(desc)) {
    throw new InvalidArgumentError(
      argument,
      `must have a place for each element, got strides [${desc.strides}] for shape [${shape}]`,
    );
  }
}

function makePlan(
  ctx: GpuContext,
  kernels: readonly KernelSpec[],
  spans: Readonly<Record<string, number>>,
  { dropout }: AttentionProblem,
): Plan {
  const plan = makeKernelPlan(ctx, kernels, spans);
  const drawn = dropout?.kind === 'philox' ? dropout : { seed: [0, 0] as const, offset: [0, 0] as const };
  return {
    kernels,
    tensors: plan.tensors.filter(({ name }) => name !== 'workspace'),
    workspaceBytes: plan.tensors.find(({ name }) => name === 'workspace')?.bytes ?? 0,
    encode(target, buffers, { seed = drawn.seed, offset = drawn.offset } = {}) {
      plan.encode(target, buffers, {
        seedLow: seed[0],
        seedHigh: seed[1],
        offsetLow: offset[0],
        offsetHigh: offset[1],
      });
    },
    warmUp: plan.warmUp,
    retire: plan.retire,
    destroy: plan.destroy,
  };
}
