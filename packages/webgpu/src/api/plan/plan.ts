import type { AttentionProblem, U64Words } from '@tilewise/core';
import type { AttentionPlan } from '../../attention/plan/attention-plan.ts';
import type { KernelParts } from '../../codegen/kernel-spec.ts';
import { demandSupport } from '../../device/support.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { KernelPlan } from '../../runtime/plan/kernel-plan.ts';
import type { Uint64 } from './uint64.ts';

/** Numbers that may change between calls of `encode` without a new plan. */
export interface EncodeOptions {
  /** The dropout seed. Default: that of the problem. */
  readonly seed?: Uint64 | undefined;
  /** The dropout offset. Default: that of the problem. */
  readonly offset?: Uint64 | undefined;
  /** The factor of the scores. Default: that of the problem. */
  readonly scale?: number | undefined;
}

/** The numbers of a call as kernels take them: 64-bit integers are two words. */
export interface CallNumbers {
  readonly seed?: U64Words | undefined;
  readonly offset?: U64Words | undefined;
  readonly scale?: number | undefined;
}

/** Attention on one device, which can be recorded any number of times. */
export type Plan = KernelPlan<EncodeOptions>;

/** Options of a plan that are not part of the problem. */
export interface PlanOptions {
  /**
   * The names of tensors whose slices may start at any element. Other tensors must start at a multiple of
   * four elements (see `tensors`), so that kernels can read and write them in vectors.
   */
  readonly unaligned?: Iterable<string> | undefined;
}

/** For plans whose callers have the numbers of a call as kernels take them. */
export const asGiven = (numbers: CallNumbers): CallNumbers => numbers;

/**
 * Plans the kernels of a problem, with its scale and its dropout.
 * @param numbersOf returns the numbers of a call; throws for invalid options of `encode`.
 */
export function makePlan<Options>(
  ctx: GpuContext,
  { layouts, ...parts }: KernelParts & Partial<Pick<AttentionPlan, 'layouts'>>,
  { dropout, scale: own }: Pick<AttentionProblem, 'dropout' | 'scale'>,
  numbersOf: (options: Options) => CallNumbers,
): KernelPlan<Options> {
  demandSupport(ctx.planReasons(parts));
  const drawn = dropout?.kind === 'philox' ? dropout : { seed: [0, 0] as const, offset: [0, 0] as const };
  const inputsOf = ({ seed = drawn.seed, offset = drawn.offset, scale = own }: CallNumbers) => {
    return { scale, seedLow: seed[0], seedHigh: seed[1], offsetLow: offset[0], offsetHigh: offset[1] };
  };
  const usual = inputsOf({});
  return ctx.plan<Options>({
    ...parts,
    ...(layouts && { expected: layouts }),
    inputs: options => (options ? inputsOf(numbersOf(options)) : usual),
  });
}
