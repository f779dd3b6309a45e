import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../attention/problem/problem.ts';
import type { BoundWork } from '../../primitive/bound-work.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { isResident } from '../kernels/memory/resident-tensors.ts';
import type { Variant } from '../kernels/variant.ts';
import { bindCall, bindSteps } from '../steps/bound-steps.ts';
import type { Team } from '../team/team.ts';
import { hasOneQuery, runOneQuery } from './forward/one-query.ts';
import { backwardHeads } from './small-heads/backward.ts';
import type { HeadWork } from './small-heads/compute-heads.ts';
import { forwardHeads } from './small-heads/forward.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './small-heads/plan.ts';
import { headStep } from './small-heads/share-heads.ts';
import { forwardSize, inOrder, WORTH_THREADS } from './tasks.ts';

/**
 * Binds attention to tensors if it has small heads, or one query and little work. Null for other problems,
 * and for tensors outside the memory of the kernels.
 */
export interface BindAttention {
  forward(
    problem: AttentionProblem,
    operands: Operands<Tensor>,
    results: Readonly<Record<'o' | 'lse', Tensor>>,
  ): BoundWork | null;
  backward(
    problem: BackwardProblem,
    operands: BackwardOperands<Tensor>,
    gradients: Readonly<Record<'dq' | 'dk' | 'dv', Tensor>>,
  ): BoundWork | null;
}

/** Binds passes to tensors in the memory of a variant's kernels. */
export function createBindAttention(variant: Variant, team: Team | null): BindAttention {
  // These problems have no operands that are lists of tensors.
  const areResident = (tensors: object): boolean =>
    (Object.values(tensors) as Tensor[]).every(tensor => isResident(variant, tensor));

  function bindHeads(
    operands: Operands<Tensor>,
    results: Readonly<Record<string, Tensor>>,
    make: (kernels: Kernels) => HeadWork | null,
  ): BoundWork | null {
    if (!areResident({ ...operands, ...results })) return null;
    return bindSteps(variant, team, kernels => {
      const work = make(kernels);
      return work && [headStep(work)];
    });
  }

  return {
    forward(problem, operands, results) {
      // A single query has its own kernels, whose sums have another order.
      if (!hasOneQuery(problem)) {
        if (!smallHeadPlan(problem)) return null;
        return bindHeads(operands, results, kernels => forwardHeads(problem, operands, kernels, results));
      }
      const isShared = team !== null && forwardSize(problem) >= WORTH_THREADS;
      // The call does not write the rows of sequences without a query.
      const isComplete = problem.lengthsQ === 'full';
      if (isShared || !isComplete || !areResident({ ...operands, ...results })) return null;
      const all = { ...results, max: null, sumExp: null };
      return bindCall(variant, kernels => {
        const { matrices } = kernels;
        if (!matrices) throw new Error('bound attention needs kernels in WebAssembly');
        runOneQuery(problem, operands, matrices, { kernels }, all, inOrder());
      });
    },
    backward: (problem, operands, gradients) =>
      hasSmallHeadGradients(problem)
        ? bindHeads(operands, gradients, kernels => backwardHeads(problem, operands, kernels, gradients))
        : null,
  };
}
