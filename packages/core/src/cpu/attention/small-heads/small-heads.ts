import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { BackwardSums } from '../backward/sums.ts';
import type { ForwardResults } from '../forward/forward-results.ts';
import { runSmallHeadGradients } from './backward.ts';
import type { ComputeHeads } from './compute-heads.ts';
import { runSmallHeads } from './forward.ts';

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
    forward: (...pass) => runSmallHeads(...pass, compute),
    backward: (...pass) => runSmallHeadGradients(...pass, compute),
  };
}
