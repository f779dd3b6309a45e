import { createVisibility } from '../../../attention/host/visibility.ts';
import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { PANEL_BYTES, padded, STRIP } from '../../kernels/interface/panel.ts';
import type { Memory } from '../../kernels/memory/memory.ts';
import {
  hasPlainRows,
  isPlainProblem,
  operandPlaces,
  resultPlaces,
  storeHead,
} from '../../operands/head-places.ts';
import { copyBack } from '../../operands/resident.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';
import type { ForwardResults } from './forward-results.ts';
import { createRunningSoftmax } from './running-softmax.ts';

/** The plan of a problem in which the scores of each head are one tile. */
export interface SmallHeadPlan {
  /** The columns of the tile. */
  readonly T: number;
  /** The keys that each row may see, two i32 per row; null if every row sees all keys. */
  readonly ranges: Int32Array | null;
}

/** Engines pass the same problem object again, so plans are cached by object. */
const plans = /* @__PURE__ */ new WeakMap<AttentionProblem, SmallHeadPlan | 'other'>();

/**
 * The plan of a problem in which the scores of each head are one tile, and whose operands can be read in
 * place. For such problems the work besides a tile's products matters, so it is done once for all heads. Null
 * for other problems, and if there are rows that see no key.
 */
export function smallHeadPlan(problem: AttentionProblem): SmallHeadPlan | null {
  const plan = plans.get(problem) ?? planSmallHeads(problem) ?? 'other';
  plans.set(problem, plan);
  return plan === 'other' ? null : plan;
}

function planSmallHeads(problem: AttentionProblem): SmallHeadPlan | null {
  const { Sq, Skv, q, k, v, o } = problem;
  const size = tileSizeOf(problem);
  const isSmall = Sq > 0 && Skv > 0 && size.rows === Sq && size.columns >= Skv;
  if (!isSmall || ![q, k, v, o].every(hasPlainRows) || !isPlainProblem(problem)) return null;
  const values = new Int32Array(2 * Sq);
  createVisibility(problem, {}).keyRanges(0, 0, Sq, values);
  if (!values.some(to => to > 0)) return null;
  const seesAll = values.every((end, n) => end === (n % 2 === 0 ? 0 : Skv));
  return { T: size.columns, ranges: seesAll ? null : values };
}

/** The address of a plan's ranges in newly allocated memory; 0 if every row sees all keys. */
export function rangesOf({ ranges }: SmallHeadPlan, memory: Memory): number {
  if (!ranges) return 0;
  const { at } = memory.scratch(ranges.length);
  memory.i32.set(ranges, at >> 2);
  return at;
}

/**
 * Computes such a problem, each head with the kernels of tiles and in their order, so that results have the
 * same bits. For other problems, and if rows are at the end of the memory, it returns false and computes
 * nothing.
 */
export function runSmallHeads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  results: ForwardResults,
): boolean {
  const plan = smallHeadPlan(problem);
  if (!plan) return false;
  const { B, Hq, Sq, Skv, Dqk, Dv, scale } = problem;
  const { memory } = kernels;
  memory.reset();
  const inRange = rangesOf(plan, memory);
  const { T } = plan;
  const rows = Math.ceil(Sq / STRIP) * STRIP;
  const [keys, values] = [memory.scratch(T * Dqk).at, memory.scratch(T * Dv).at];
  const scores = memory.floats(rows * T).at;
  const sums = memory.floats(rows * Dv);
  const softmax = createRunningSoftmax(memory, Sq);
  const q = operandPlaces(memory, problem.q, operands.q);
  const k = operandPlaces(memory, problem.k, operands.k);
  const v = operandPlaces(memory, problem.v, operands.v);
  const o = resultPlaces(memory, problem.o, results.o);
  if (!q || !k || !v) return false;

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
