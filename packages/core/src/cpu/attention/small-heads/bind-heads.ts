import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../../attention/problem/problem.ts';
import type { BoundWork } from '../../../primitive/bound-work.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { isResident } from '../../kernels/memory/resident-tensors.ts';
import type { Variant } from '../../kernels/variant.ts';
import { bindSteps } from '../../steps/bound-steps.ts';
import type { Team } from '../../team/team.ts';
import { hasOneQuery } from '../forward/one-query.ts';
import { backwardHeads } from './backward.ts';
import type { HeadWork } from './compute-heads.ts';
import { forwardHeads } from './forward.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './plan.ts';
import { headStep } from './share-heads.ts';

/** Binds passes over small heads to tensors. Null for other problems, and for tensors outside the kernels. */
export interface BindHeads {
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
export function createBindHeads(variant: Variant, team: Team | null): BindHeads {
  function bind(
    operands: Operands<Tensor>,
    results: Readonly<Record<string, Tensor>>,
    make: (kernels: Kernels) => HeadWork | null,
  ): BoundWork | null {
    // Problems with small heads have no operands that are lists of tensors.
    const tensors = Object.values({ ...operands, ...results }) as Tensor[];
    if (!tensors.every(tensor => isResident(variant, tensor))) return null;
    return bindSteps(variant, team, kernels => {
      const work = make(kernels);
      return work && [headStep(work)];
    });
  }

  return {
    forward(problem, operands, results) {
      // A single query has kernels of its own, whose sums have another order.
      if (hasOneQuery(problem) || !smallHeadPlan(problem)) return null;
      return bind(operands, results, kernels => forwardHeads(problem, operands, kernels, results));
    },
    backward: (problem, operands, gradients) =>
      hasSmallHeadGradients(problem)
        ? bind(operands, gradients, kernels => backwardHeads(problem, operands, kernels, gradients))
        : null,
  };
}
