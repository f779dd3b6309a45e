import { hostOperand } from '../../attention/host/addressing.ts';
import type { PositionRange } from '../../attention/host/key-ranges.ts';
import { createLengths } from '../../attention/host/sequences.ts';
import { createVisibility } from '../../attention/host/visibility.ts';
import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import { createProblemDropout } from '../../score/dropout.ts';
import { createFp8 } from '../../score/fp8.ts';
import { createScoreChain, type ScoreChain } from '../../score/score-chain.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { headReader } from './read.ts';
import { rowOf } from './row.ts';
import { dots } from './row-products.ts';

/** One query head h of one sequence b: its rows of q, and the k and v heads that it shares with its group. */
export interface Head {
  readonly b: number;
  readonly h: number;
  /** ⌊h / (Hq / Hk)⌋ and ⌊h / (Hq / Hv)⌋. */
  readonly hk: number;
  readonly hv: number;
  /** Queries and keys of the sequence. */
  readonly lengthQ: number;
  readonly lengthKv: number;
  /** lengthQ × Dqk, lengthKv × Dqk and lengthKv × Dv, row-major. */
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly v: Float64Array;
  /** The keys that query i sees. Nothing is read for other keys, so garbage behind a mask has no effect. */
  visibleKeys(i: number): VisibleKeys;
  /** z_ij of keys j, the dropout factors of p_ij: 0, or 1 / (1 − p). */
  dropout(i: number, j: Int32Array): Float64Array;
}

/**
 * The keys that a query sees (visible by all masks, and with a score other than −∞), ascending, with their
 * scores.
 */
export interface VisibleKeys {
  readonly j: Int32Array;
  /** x_ij = scale · q_i·k_j, with the values that q and k stand for (see `Fp8Options`). */
  readonly x: Float64Array;
  /** s_ij: the score after mod, softcap, bias and ALiBi. */
  readonly s: Float64Array;
}

/** A problem on the host, head by head. */
export function* heads(problem: AttentionProblem, operands: Operands<Tensor>): Generator<Head> {
  const { B, Hq, Hk, Hv, Sq, Dqk } = problem;
  if (Sq === 0) return;
  const { descaleQ, descaleK } = createFp8(problem, operands);
  const scale = problem.scale * descaleQ * descaleK;
  const lengths = createLengths(problem, operands);
  const visibility = createVisibility(problem, operands);
  const chain = createScoreChain(problem, operands, visibility);
  const dropout = createProblemDropout(problem, operands);
  const readQ = headReader(hostOperand('q', problem.q, operands, lengths.q));
  const readK = headReader(hostOperand('k', problem.k, operands, lengths.kv));
  const readV = headReader(hostOperand('v', problem.v, operands, lengths.kv));
  const isShown: PairPredicate | null =
    visibility.rangesAreExact && !problem.bias
      ? null
      : (b, h, i, j) => visibility.isVisible(b, h, i, j) && chain.bias(b, h, i, j) !== -Infinity;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      const hk = Math.floor(h / (Hq / Hk));
      const hv = Math.floor(h / (Hq / Hv));
      const q = readQ(b, h);
      const k = readK(b, hk);
      yield {
        b,
        h,
        hk,
        hv,
        lengthQ: lengths.q.length(b),
        lengthKv: lengths.kv.length(b),
        q,
        k,
        v: readV(b, hv),
        visibleKeys(i) {
          const shown = shownKeys(visibility.keyRange(b, i), isShown, b, h, i);
          const x = dots(rowOf(q, i, Dqk), k, shown);
          return scored(shown, x, scale, chain, b, h, i);
        },
        dropout: (i, j) => new Float64Array(j).map(key => dropout.factor(b, h, i, key)),
      };
    }
  }
}

type PairPredicate = (b: number, h: number, i: number, j: number) => boolean;

/** The keys of a range that the predicate shows to query i; all of them without a predicate. */
function shownKeys(
  [lo, hi]: PositionRange,
  isShown: PairPredicate | null,
  b: number,
  h: number,
  i: number,
): Int32Array {
  const keys = new Int32Array(hi - lo);
  let count = 0;
  for (let j = lo; j < hi; j++) if (isShown === null || isShown(b, h, i, j)) keys[count++] = j;
  return keys.subarray(0, count);
}

/** The keys among the shown ones whose score is not −∞, from their q_i·k_j. */
function scored(
  keys: Int32Array,
  products: Float64Array,
  scale: number,
  chain: ScoreChain,
  b: number,
  h: number,
  i: number,
): VisibleKeys {
  const j = new Int32Array(keys.length);
  const x = new Float64Array(keys.length);
  const s = new Float64Array(keys.length);
  let count = 0;
  for (let n = 0; n < keys.length; n++) {
    j[count] = keys[n];
    x[count] = scale * products[n];
    s[count] = chain.final(x[count], b, h, i, keys[n]);
    if (s[count] !== -Infinity) count++;
  }
  return { j: j.subarray(0, count), x: x.subarray(0, count), s: s.subarray(0, count) };
}
