import { createKeyRanges } from '../../../attention/host/key-ranges.ts';
import { operandLayouts } from '../../../attention/operands/table.ts';
import type { AttentionProblem, BackwardProblem, OperandDesc } from '../../../attention/problem/problem.ts';
import { PANEL } from '../../kernels/interface/panel.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';

/** The plan of a problem in which the scores of each head are one tile. */
export interface SmallHeadPlan {
  /** The columns of the tile. */
  readonly columns: number;
  /** The keys that each row may see, two i32 per row; null if every row sees all keys. */
  readonly ranges: Int32Array | null;
}

/** Engines pass the same problem object again, so plans are cached by object. */
const plans = /* @__PURE__ */ new WeakMap<AttentionProblem, SmallHeadPlan | 'other'>();

/**
 * The plan of a problem in which the scores of each head are one tile, and whose operands can be read in
 * place. For such problems the work besides a tile's products matters, so it is done once for all heads. Null
 * for other problems, and if no row sees a key.
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
  createKeyRanges(problem, {}).keyRanges(0, 0, Sq, values);
  if (!values.some(to => to > 0)) return null;
  const seesAll = values.every((end, n) => end === (n % 2 === 0 ? 0 : Skv));
  return { columns: size.columns, ranges: seesAll ? null : values };
}

/** Whether kernels can read the rows of an operand in place: contiguous f32 rows that fill whole panels. */
function hasPlainRows({ dtype, starts, page, strides, shape }: OperandDesc): boolean {
  return (
    dtype === 'f32' && starts === 'strided' && page === null && strides[3] === 1 && shape[3] % PANEL === 0
  );
}

/** The operands and results of a problem without masks, lengths and additional results. */
const plainOperands: ReadonlySet<string> = new Set(['q', 'k', 'v', 'o', 'lse']);

/**
 * Whether scores are changed only by a scale and a band, each query head has its own head of k and v, all
 * sequences have the full length, and o and lse are the only results.
 */
function isPlainProblem(problem: AttentionProblem): boolean {
  const { Hq, Hk, Hv, scoreMod, softcap, maskMod, dropout, fp8 } = problem;
  return (
    Hq === Hk &&
    Hq === Hv &&
    [scoreMod, softcap, maskMod, dropout, fp8].every(change => change === null) &&
    Object.keys(operandLayouts(problem)).every(name => plainOperands.has(name))
  );
}

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
