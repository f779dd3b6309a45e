import type { AttentionProblem, ForwardAmaxName } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import {
  type AllocateTensor,
  allocateIn,
  allocateRows,
  allocateStatistic,
} from '../../operands/row-result.ts';

/** The tensors that forward writes. */
export interface ForwardResults {
  readonly o: Tensor;
  readonly lse: Tensor;
  readonly max: Tensor | null;
  readonly sumExp: Tensor | null;
}

/** The largest magnitudes among the values that a thread has computed, for FP8 problems. */
export type ForwardAmax = Readonly<Record<ForwardAmaxName, number>>;

/**
 * Results before any row has been computed: all rows are fully masked. `into` has existing tensors to write
 * to.
 */
export function allocateForward(
  problem: AttentionProblem,
  allocate: AllocateTensor,
  into: Partial<ForwardResults> = {},
): ForwardResults {
  const { max, sumExp } = problem.outputs;
  const rows = (name: 'lse' | 'max' | 'sumExp', value: number): Tensor =>
    allocateStatistic(problem, value, allocateIn(into[name], allocate));
  return {
    o: allocateRows(problem.o, problem.lengthsQ, allocateIn(into.o, allocate)),
    lse: rows('lse', -Infinity),
    max: max ? rows('max', -Infinity) : null,
    sumExp: sumExp ? rows('sumExp', 0) : null,
  };
}
