import type { AttentionProblem, U64Words } from '@tilewise/core';
import type { AttentionPlan } from '../../attention/plan/attention-plan.ts';
import type { KernelParts } from '../../codegen/kernel-spec.ts';
import { demandSupport } from '../../device/support.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { KernelPlan } from '../../runtime/plan/kernel-plan.ts';

/** Numbers that may change between calls of `encode` without a new plan. */
export interface EncodeOptions {
  /** The dropout seed as two 32-bit words, the low word first. Default: that of the problem. */
  readonly seed?: U64Words | undefined;
  /** The dropout offset as two 32-bit words, the low word first. Default: that of the problem. */
  readonly offset?: U64Words | undefined;
  /** The factor of the scores. Default: that of the problem. */
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

/**
 * Plans the kernels of a problem, with its scale and its dropout.
 * @param check throws if the caller passes invalid options to `encode`.
 */
export function makePlan(
  ctx: GpuContext,
  { layouts, ...parts }: KernelParts & Partial<Pick<AttentionPlan, 'layouts'>>,
  { dropout, scale: own }: Pick<AttentionProblem, 'dropout' | 'scale'>,
  check: (options: EncodeOptions) => void = () => {},
): Plan {
  demandSupport(ctx.planReasons(parts));
  const drawn = dropout?.kind === 'philox' ? dropout : { seed: [0, 0] as const, offset: [0, 0] as const };
  const inputsOf = ({ seed = drawn.seed, offset = drawn.offset, scale = own }: EncodeOptions) => {
    return { scale, seedLow: seed[0], seedHigh: seed[1], offsetLow: offset[0], offsetHigh: offset[1] };
  };
  const usual = inputsOf({});
  return ctx.plan<EncodeOptions>({
    ...parts,
    ...(layouts && { expected: layouts }),
    inputs(options) {
      if (!options) return usual;
      check(options);
      return inputsOf(options);
    },
  });
}
