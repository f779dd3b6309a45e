import type { BackwardOperands, BackwardProblem } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { STRIP } from '../../kernels/interface/panel.ts';
import { copyBack, readable } from '../../operands/resident.ts';
import type { BackwardSums } from '../backward/sums.ts';
import type { ComputeHeads } from './compute-heads.ts';
import { operandPlace, resultPlace } from './head-places.ts';
import { type HeadOperands, writeHeadNumbers } from './numbers.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './plan.ts';

/**
 * Computes dq, dk and dv of a problem with small heads. For other problems and other layouts of operands, and
 * on kernels in TypeScript, it returns false and computes nothing.
 */
export function runSmallHeadGradients(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  kernels: Kernels,
  results: BackwardSums,
  compute: ComputeHeads,
): boolean {
  const { forward } = problem;
  const plan = kernels.heads && smallHeadPlan(forward);
  if (!plan || !hasSmallHeadGradients(problem) || !operands.lse.isContiguous) return false;
  if (!results.dq || !results.dk || !results.dv) return false;
  const { B, Hq, Sq, Skv, Dqk, Dv } = forward;
  const { memory } = kernels;
  memory.reset();
  const q = operandPlace(memory, forward.q, operands.q);
  const k = operandPlace(memory, forward.k, operands.k);
  const v = operandPlace(memory, forward.v, operands.v);
  const o = operandPlace(memory, forward.o, operands.o);
  const dO = operandPlace(memory, problem.dO, operands.dO);
  if (!q || !k || !v || !o || !dO || o.row !== dO.row) return false;
  const dq = resultPlace(memory, problem.dq, results.dq);
  const dk = resultPlace(memory, problem.dk, results.dk);
  const dv = resultPlace(memory, problem.dv, results.dv);
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
    places: [q, k, v, o, dO, dq, dk, dv],
  };
  const multiplications = B * Hq * Sq * Skv * (3 * Dqk + 2 * Dv);
  compute(kernels, { pass: 'backwardHeads', heads: B * Hq, multiplications }, threads =>
    writeHeadNumbers(memory, forward, plan, used, threads),
  );
  copyBack(memory, results.dq, dq.at);
  copyBack(memory, results.dk, dk.at);
  copyBack(memory, results.dv, dv.at);
  return true;
}
