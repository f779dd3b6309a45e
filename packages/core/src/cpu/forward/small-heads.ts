import { createVisibility } from '../../attention/host/visibility.ts';
import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { PANEL_BYTES, padded, STRIP } from '../kernels/interface/panel.ts';
import {
  hasPlainRows,
  isPlainProblem,
  operandPlaces,
  resultPlaces,
  storeHead,
} from '../operands/head-places.ts';
import { copyBack } from '../operands/resident.ts';
import { createRowRanges } from '../tiles/row-ranges.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';
import type { ForwardResults } from './forward-results.ts';
import { createRunningSoftmax } from './running-softmax.ts';

/**
 * Whether the scores of a head are one tile and its operands can be read in place: then what a tile costs
 * besides its products counts, and is done once for all heads.
 */
export function hasSmallHeads(problem: AttentionProblem): boolean {
  const { Sq, Skv, q, k, v, o } = problem;
  const size = tileSizeOf(problem);
  return (
    Sq > 0 &&
    Skv > 0 &&
    size.rows === Sq &&
    size.columns >= Skv &&
    [q, k, v, o].every(hasPlainRows) &&
    isPlainProblem(problem)
  );
}

/**
 * Computes such a problem, each head by the kernels that tiles take and in their order, so that results have
 * the same bits; false, and nothing is computed, for other problems, where rows see no key or lie at the end
 * of the memory.
 */
export function runSmallHeads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  results: ForwardResults,
): boolean {
  if (!hasSmallHeads(problem)) return false;
  const { B, Hq, Sq, Skv, Dqk, Dv, scale } = problem;
  const { memory } = kernels;
  memory.reset();
  const ranges = createRowRanges(createVisibility(problem, operands), memory, Sq);
  ranges.select(0, 0, Sq);
  const seen = ranges.seen(0, Skv);
  const inRange = seen === 'all' ? 0 : ranges.at;
  const T = tileSizeOf(problem).columns;
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const [keys, values] = [memory.scratch(T * Dqk).at, memory.scratch(T * Dv).at];
  const scores = memory.floats(rows * T).at;
  const sums = memory.floats(rows * Dv);
  const softmax = createRunningSoftmax(memory, Sq);
  const q = operandPlaces(memory, problem.q, operands.q);
  const k = operandPlaces(memory, problem.k, operands.k);
  const v = operandPlaces(memory, problem.v, operands.v);
  const o = resultPlaces(memory, problem.o, results.o);
  if (seen === 'none' || !q || !k || !v) return false;

  const { f32 } = memory;
  const { largest, sum } = softmax;
  const [m, l, output] = [largest.values, sum.values, sums.values];
  const lse = results.lse.data;
  const [ld, ldO] = [4 * T, 4 * Dv];
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      softmax.start(Sq, -Infinity);
      output.fill(0);
      kernels.packColumns(padded(Skv), Dqk, k.of(b, h), k.row, keys);
      kernels.multiplyScores(Sq, Skv, Dqk, q.of(b, h), q.row, keys, scores, ld, scale, inRange, 0);
      kernels.updateSoftmax(Sq, Skv, scores, ld, largest.at, sum.at, sums.at, ldO, Dv, inRange, 0);
      const guarded = !kernels.packRows(Skv, Dv, v.of(b, h), v.row, values, T * PANEL_BYTES);
      const bytes = T * PANEL_BYTES;
      kernels.addProduct(Sq, Dv, Skv, scores, ld, values, bytes, sums.at, ldO, inRange, 0, guarded);
      const row = (b * Hq + h) * Sq;
      for (let i = 0; i < Sq; i++) lse[row + i] = l[i] === 0 ? -Infinity : m[i] + Math.log(l[i]);
      kernels.divideRows(Sq, Dv, sums.at, ldO, sum.at);
      storeHead(f32, sums.at, Sq, Dv, o.of(b, h), o.row);
    }
  }
  copyBack(memory, results.o, o.at);
  return true;
}
