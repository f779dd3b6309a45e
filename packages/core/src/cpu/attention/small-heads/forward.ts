import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { STRIP } from '../../kernels/interface/panel.ts';
import { writable } from '../../operands/resident.ts';
import type { ForwardResults } from '../forward/forward-results.ts';
import type { HeadWork } from './compute-heads.ts';
import { operandAddresses, resultAddresses } from './head-addresses.ts';
import { type HeadOperands, writeHeadNumbers } from './numbers.ts';
import { smallHeadPlan } from './plan.ts';

/**
 * The pass over a problem with small heads. Null for other problems, if rows are at the end of the memory,
 * and on kernels in TypeScript.
 */
export function forwardHeads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  results: Pick<ForwardResults, 'o' | 'lse'>,
): (HeadWork & { readonly o: number; readonly lse: number }) | null {
  const plan = kernels.heads && smallHeadPlan(problem);
  if (!plan) return null;
  const { B, Hq, Sq, Skv, Dqk, Dv } = problem;
  const { memory } = kernels;
  const q = operandAddresses(memory, problem.q, operands.q);
  const k = operandAddresses(memory, problem.k, operands.k);
  const v = operandAddresses(memory, problem.v, operands.v);
  const o = resultAddresses(memory, results.o);
  if (!q || !k || !v || !o) return null;
  const lse = writable(memory, results.lse);
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const T = plan.columns;
  const used: HeadOperands = {
    lse,
    // Packed k and v, the scores, o, and m and l (in f64) of the softmax.
    panels: [T * Dqk, T * Dv, rows * T, rows * Dv, Sq, 2 * Sq],
    addresses: [q, k, v, o],
  };
  return {
    pass: 'forwardHeads',
    heads: B * Hq,
    multiplications: B * Hq * Sq * Skv * (Dqk + Dv),
    write: (threads, allocate) => writeHeadNumbers(memory, problem, plan, used, threads, allocate),
    ...{ o: o.at, lse },
  };
}
