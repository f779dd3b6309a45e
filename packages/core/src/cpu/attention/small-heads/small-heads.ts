import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { copyBack } from '../../operands/resident.ts';
import type { BackwardSums } from '../backward/sums.ts';
import type { ForwardResults } from '../forward/forward-results.ts';
import { backwardHeads } from './backward.ts';
import type { ComputeHeads } from './compute-heads.ts';
import { forwardHeads } from './forward.ts';

/**
 * Passes over problems whose heads are one tile each. For other problems they return false and compute
 * nothing.
 */
export interface SmallHeads {
  forward(
    problem: AttentionProblem,
    operands: Operands<Tensor>,
    kernels: Kernels,
    results: ForwardResults,
  ): boolean;
  backward(
    problem: BackwardProblem,
    operands: BackwardOperands<Tensor>,
    kernels: Kernels,
    results: BackwardSums,
  ): boolean;
}

/** Passes over small heads, run by `compute`. */
export function createSmallHeads(compute: ComputeHeads): SmallHeads {
  return {
    forward(problem, operands, kernels, results) {
      const { memory } = kernels;
      memory.reset();
      const work = forwardHeads(problem, operands, kernels, results);
      if (!work) return false;
      compute(kernels, work);
      copyBack(memory, results.o, work.o);
      copyBack(memory, results.lse, work.lse);
      return true;
    },
    backward(problem, operands, kernels, results) {
      const { memory } = kernels;
      memory.reset();
      const work = backwardHeads(problem, operands, kernels, results);
      if (!work) return false;
      compute(kernels, work);
      for (const { tensor, at } of work.gradients) copyBack(memory, tensor, at);
      return true;
    },
  };
}
