import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { STRIP } from '../../kernels/interface/panel.ts';
import { copyBack, writable } from '../../operands/resident.ts';
import type { ForwardResults } from '../forward/forward-results.ts';
import type { ComputeHeads } from './compute-heads.ts';
import { operandPlace, resultPlace } from './head-places.ts';
import { type HeadOperands, writeHeadNumbers } from './numbers.ts';
import { smallHeadPlan } from './plan.ts';

/**
 * Computes a problem with small heads. For other problems, if rows are at the end of the memory, and on
 * kernels in TypeScript, it returns false and computes nothing.
 */
export function runSmallHeads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  results: ForwardResults,
  compute: ComputeHeads,
): boolean {
  const plan = kernels.heads && smallHeadPlan(problem);
  if (!plan) return false;
  const { B, Hq, Sq, Skv, Dqk, Dv } = problem;
  const { memory } = kernels;
  memory.reset();
  const q = operandPlace(memory, problem.q, operands.q);
  const k = operandPlace(memory, problem.k, operands.k);
  const v = operandPlace(memory, problem.v, operands.v);
  if (!q || !k || !v) return false;
  const o = resultPlace(memory, problem.o, results.o);
  const lse = writable(memory, results.lse);
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const T = plan.columns;
  const used: HeadOperands = {
    lse,
    // Packed k and v, the scores, o, and m and l (in f64) of the softmax.
    panels: [T * Dqk, T * Dv, rows * T, rows * Dv, Sq, 2 * Sq],
    places: [q, k, v, o],
  };
  const multiplications = B * Hq * Sq * Skv * (Dqk + Dv);
  compute(kernels, { pass: 'forwardHeads', heads: B * Hq, multiplications }, threads =>
    writeHeadNumbers(memory, problem, plan, used, threads),
  );
  copyBack(memory, results.o, o.at);
  copyBack(memory, results.lse, lse);
  return true;
}
