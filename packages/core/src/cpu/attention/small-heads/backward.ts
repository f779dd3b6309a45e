import type { BackwardOperands, BackwardProblem } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { STRIP } from '../../kernels/interface/panel.ts';
import { readable } from '../../operands/resident.ts';
import type { HeadWork } from './compute-heads.ts';
import { operandAddresses, resultAddresses } from './head-addresses.ts';
import { type HeadOperands, writeHeadNumbers } from './numbers.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './plan.ts';

/**
 * The pass that computes dq, dk and dv of a problem with small heads. Null for other problems and other
 * layouts of operands, if rows are at the end of the memory, and on kernels in TypeScript.
 */
export function backwardHeads(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  kernels: Kernels,
  results: Readonly<Partial<Record<'dq' | 'dk' | 'dv', Tensor | null>>>,
): (HeadWork & { readonly gradients: readonly WrittenGradient[] }) | null {
  const { forward } = problem;
  const plan = kernels.heads && smallHeadPlan(forward);
  if (!plan || !hasSmallHeadGradients(problem) || !operands.lse.isContiguous) return null;
  if (!results.dq || !results.dk || !results.dv) return null;
  const { B, Hq, Sq, Skv, Dqk, Dv } = forward;
  const { memory } = kernels;
  const q = operandAddresses(memory, forward.q, operands.q);
  const k = operandAddresses(memory, forward.k, operands.k);
  const v = operandAddresses(memory, forward.v, operands.v);
  const o = operandAddresses(memory, forward.o, operands.o);
  const dO = operandAddresses(memory, problem.dO, operands.dO);
  const dq = resultAddresses(memory, results.dq);
  const dk = resultAddresses(memory, results.dk);
  const dv = resultAddresses(memory, results.dv);
  if (!q || !k || !v || !o || !dO || !dq || !dk || !dv) return null;
  const T = plan.columns;
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const keys = Math.ceil(Skv / STRIP) * STRIP;
  const used: HeadOperands = {
    lse: readable(memory, operands.lse),
    panels: [
      // k and v packed by columns; k, q and dO packed by rows; p and dS.
      ...[T * Dqk, T * Dv, T * Dqk, Sq * Dqk, Sq * Dv, rows * T, rows * T],
      // dq, dk, dv; delta in f32 and, before, in f64.
      ...[rows * Dqk, keys * Dqk, keys * Dv, Sq, 2 * Sq],
    ],
    addresses: [q, k, v, o, dO, dq, dk, dv],
  };
  return {
    pass: 'backwardHeads',
    heads: B * Hq,
    multiplications: B * Hq * Sq * Skv * (3 * Dqk + 2 * Dv),
    write: (threads, allocate) => writeHeadNumbers(memory, forward, plan, used, threads, allocate),
    gradients: [
      { tensor: results.dq, at: dq.at },
      { tensor: results.dk, at: dk.at },
      { tensor: results.dv, at: dv.at },
    ],
  };
}

/** A gradient, and the address that it is written to. */
interface WrittenGradient {
  readonly tensor: Tensor;
  readonly at: number;
}
