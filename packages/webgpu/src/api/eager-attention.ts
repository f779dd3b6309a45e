import type { AttentionProblem, DropoutDesc, Fp8Scalars } from '@tilewise/core';
import { type HostArray, operandTable } from '@tilewise/core/engine';
import type { GpuContext } from '../runtime/context.ts';
import type { CallResult, EagerCall } from '../runtime/eager-call.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import type { KernelPlan } from '../runtime/plan/kernel-plan.ts';
import type { CallNumbers } from './plan/plan.ts';
import type { CallTools } from './tools/tools.ts';

/** An eager call of attention: the plan of a problem, and the tensors that the plan runs on. */
export interface AttentionCall<Results> {
  /** Identifies the plan. Can be written as JSON. */
  readonly key: unknown;
  readonly operands: object & { readonly fp8?: Fp8Scalars<GpuTensor | HostArray> };
  /** The operands that must be contiguous. Default: the lists and row tensors of the operand table. */
  readonly contiguousNames?: ReadonlySet<string>;
  readonly results: readonly CallResult[];
  readonly dropout: DropoutDesc | null;
  readonly tools: Pick<CallTools, 'list'>;
  readonly plan: (unaligned: readonly string[]) => KernelPlan<CallNumbers>;
  readonly resultsOf: (tensors: Record<string, GpuTensor>) => Results;
}

/**
 * The part of a problem that determines its plan. Leaves out the dropout's seed and offset, which a plan
 * takes when it is encoded, and lists the nodes of expressions, because nodes may be shared.
 */
export function keyOfProblem(problem: AttentionProblem, { expr }: CallTools): object {
  const { dropout, scoreMod, maskMod } = problem;
  return {
    ...problem,
    ...(dropout?.kind === 'philox' && { dropout: { ...dropout, seed: 0, offset: 0 } }),
    ...(scoreMod && { scoreMod: expr?.flatten(scoreMod) }),
    ...(maskMod && { maskMod: expr?.flatten(maskMod) }),
  };
}

/**
 * Operands that kernels read as contiguous lists. Other operands may have any strides, which are part of the
 * problem.
 */
const contiguousNames: ReadonlySet<string> = new Set(
  Object.entries(operandTable).flatMap(([name, { form }]) =>
    form === 'list' || form === 'rows' ? [name] : [],
  ),
);

/** Makes the eager call, with the operands under the names that plans bind. */
export function eagerCall<Results>(
  ctx: GpuContext,
  { key, operands: { fp8, ...others }, dropout, tools, ...call }: AttentionCall<Results>,
): EagerCall<CallNumbers, Results> {
  const bound = Object.entries(others as object).flatMap(([name, value]): [string, unknown][] =>
    name === 'captures' || name === 'mxfp8'
      ? Object.entries(value).map(([tensor, t]) => [`${name}.${tensor}`, t])
      : [[name, value]],
  );
  return {
    template: {
      contiguousNames,
      ...call,
      key: JSON.stringify(key),
      operands: bound.map(([name]) => name),
      list: tools.list?.(ctx, fp8) ?? null,
      options: dropout?.kind === 'philox' ? { seed: dropout.seed, offset: dropout.offset } : undefined,
    },
    tensors: bound.map(([, tensor]) => tensor),
  };
}
