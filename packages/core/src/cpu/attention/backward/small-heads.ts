import type { BackwardOperands, BackwardProblem } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { PANEL_BYTES, padded, STRIP } from '../../kernels/interface/panel.ts';
import { hasPlainRows, operandPlaces, resultPlaces, storeHead } from '../../operands/head-places.ts';
import { copyBack, readable } from '../../operands/resident.ts';
import { rangesOf, smallHeadPlan } from '../forward/small-heads.ts';
import type { BackwardSums } from './sums.ts';

/**
 * Whether forward has small heads, and only dq, dk and dv are wanted, of operands that can be read in place.
 */
export function hasSmallHeadGradients(problem: BackwardProblem): boolean {
  const { forward, dO, dq, dk, dv, dLse, gradients, outputs } = problem;
  return (
    smallHeadPlan(forward) !== null &&
    [dO, dq, dk, dv].every(hasPlainRows) &&
    !dLse &&
    gradients.length === 3 &&
    gradients.every(name => name === 'dq' || name === 'dk' || name === 'dv') &&
    !Object.values(outputs).includes(true)
  );
}

/**
 * Computes such a problem, each head with the kernels of tiles and in their order, so that results have the
 * same bits. For other problems and other layouts of operands it returns false and computes nothing.
 */
export function runSmallHeadGradients(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  kernels: Kernels,
  results: BackwardSums,
): boolean {
  const { forward } = problem;
  const plan = smallHeadPlan(forward);
  if (!plan || !hasSmallHeadGradients(problem)) return false;
  const { B, Hq, Sq, Skv, Dqk, Dv, scale } = forward;
  const { memory, addProduct, addTransposedProduct } = kernels;
  memory.reset();
  const inRange = rangesOf(plan, memory);
  const { T } = plan;
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const panel = (length: number): number => memory.scratch(length).at;
  const [kT, vT, kRows] = [panel(T * Dqk), panel(T * Dv), panel(T * Dqk)];
  const [qRows, dORows] = [panel(Sq * Dqk), panel(Sq * Dv)];
  const [p, dS] = [memory.floats(rows * T).at, memory.floats(rows * T).at];
  const [dqSums, dkSums] = [memory.floats(rows * Dqk), memory.floats((Skv + STRIP) * Dqk)];
  const dvSums = memory.floats((Skv + STRIP) * Dv);
  const delta = memory.floats(Sq);
  const dots = memory.allocate(Float64Array, Sq);
  const q = operandPlaces(memory, forward.q, operands.q);
  const k = operandPlaces(memory, forward.k, operands.k);
  const v = operandPlaces(memory, forward.v, operands.v);
  const o = operandPlaces(memory, forward.o, operands.o);
  const dO = operandPlaces(memory, problem.dO, operands.dO);
  const lse = operands.lse.isContiguous ? readable(memory, operands.lse) : 0;
  if (!results.dq || !results.dk || !results.dv) return false;
  const dq = resultPlaces(memory, problem.dq, results.dq);
  const dk = resultPlaces(memory, problem.dk, results.dk);
  const dv = resultPlaces(memory, problem.dv, results.dv);
  if (!lse || !q || !k || !v || !o || !dO || o.row !== dO.row) return false;

  const { f32 } = memory;
  const [ld, ldQ, ldV] = [4 * T, 4 * Dqk, 4 * Dv];
  const bytes = { rows: Sq * PANEL_BYTES, keys: T * PANEL_BYTES };
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      const [atQ, atK, atDO] = [q.of(b, h), k.of(b, h), dO.of(b, h)];
      const lseAt = lse + 4 * (b * Hq + h) * Sq;
      for (const { values } of [dqSums, dkSums, dvSums]) values.fill(0);
      const isGuardedQ = !kernels.packRows(Sq, Dqk, atQ, q.row, qRows, bytes.rows);
      const isGuardedDO = !kernels.packRows(Sq, Dv, atDO, dO.row, dORows, bytes.rows);
      const isGuardedK = !kernels.packRows(Skv, Dqk, atK, k.row, kRows, bytes.keys);
      kernels.packColumns(padded(Skv), Dqk, atK, k.row, kT);
      kernels.packColumns(padded(Skv), Dv, v.of(b, h), v.row, vT);
      kernels.dotRows(Sq, Dv, atDO, o.of(b, h), o.row, dots.at);
      delta.values.set(dots.values);

      kernels.multiplyScores(Sq, Skv, Dqk, atQ, q.row, kT, p, ld, scale, inRange, 0);
      kernels.toProbabilities(Sq, Skv, p, ld, lseAt, inRange, 0);
      addTransposedProduct(Skv, Dv, Sq, p, ld, dORows, bytes.rows, dvSums.at, ldV, inRange, 0, isGuardedDO);
      kernels.multiplyScores(Sq, Skv, Dv, atDO, dO.row, vT, dS, ld, 1, inRange, 0);
      kernels.toScoreGradients(Sq, Skv, dS, p, ld, delta.at);
      addProduct(Sq, Dqk, Skv, dS, ld, kRows, bytes.keys, dqSums.at, ldQ, inRange, 0, isGuardedK);
      addTransposedProduct(Skv, Dqk, Sq, dS, ld, qRows, bytes.rows, dkSums.at, ldQ, inRange, 0, isGuardedQ);
      kernels.scaleRows(Sq, Dqk, dqSums.at, ldQ, scale);
      kernels.scaleRows(Skv, Dqk, dkSums.at, ldQ, scale);
      storeHead(f32, dqSums.at, Sq, Dqk, dq.of(b, h), dq.row);
      storeHead(f32, dkSums.at, Skv, Dqk, dk.of(b, h), dk.row);
      storeHead(f32, dvSums.at, Skv, Dv, dv.of(b, h), dv.row);
    }
  }
  copyBack(memory, results.dq, dq.at);
  copyBack(memory, results.dk, dk.at);
  copyBack(memory, results.dv, dv.at);
  return true;
}
