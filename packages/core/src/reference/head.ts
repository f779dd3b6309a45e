import { placementLists } from '../attention/addressing.ts';
import { createLengths } from '../attention/lengths.ts';
import type { AttentionProblem, Operands } from '../attention/problem.ts';
import { createVisibility, type PositionRange } from '../attention/visibility.ts';
import { createProblemDropout } from '../score/dropout.ts';
import { createFp8 } from '../score/fp8.ts';
import { createScoreChain } from '../score/score-chain.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { headReader } from './read.ts';

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
  /** The keys that may be visible to query i. */
  keyRange(i: number): PositionRange;
  /** Whether query i sees key j: all masks, and no bias of −Infinity. */
  isVisible(i: number, j: number): boolean;
  /** x_ij = scale · q_i·k_j, of what q and k mean (see `Fp8Options`). Asked of visible pairs only, so that garbage behind a mask is never touched. */
  scaled(i: number, j: number): number;
  /** s_ij: the score after mod, softcap, bias and ALiBi, of x_ij. */
  score(x: number, i: number, j: number): number;
  /** z_ij: what dropout multiplies p_ij with: 0, or 1 / (1 − p). */
  dropout(i: number, j: number): number;
}

/** A problem on the host, head by head. */
export function* heads(problem: AttentionProblem, operands: Operands<Tensor>): Generator<Head> {
  const { B, Hq, Hk, Hv, Dqk } = problem;
  const { descaleQ, descaleK } = createFp8(problem, operands);
  const scale = problem.scale * descaleQ * descaleK;
  const lengths = createLengths(problem, operands);
  const visibility = createVisibility(problem, operands);
  const chain = createScoreChain(problem, operands, visibility);
  const dropout = createProblemDropout(problem, operands);
  const readQ = headReader(problem.q, operands.q, lengths.q, placementLists('q', operands));
  const readK = headReader(problem.k, operands.k, lengths.kv, placementLists('k', operands));
  const readV = headReader(problem.v, operands.v, lengths.kv, placementLists('v', operands));
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
        keyRange: i => visibility.keyRange(b, i),
        isVisible: (i, j) => visibility.isVisible(b, h, i, j) && chain.bias(b, h, i, j) !== -Infinity,
        scaled: (i, j) => scale * dot(q, i, k, j, Dqk),
        score: (x, i, j) => chain.final(x, b, h, i, j),
        dropout: (i, j) => dropout.factor(b, h, i, j),
      };
    }
  }
}

/** Row i of X times row j of Y, both row-major with D columns. */
export function dot(X: Float64Array, i: number, Y: Float64Array, j: number, D: number): number {
  let sum = 0;
  for (let d = 0; d < D; d++) sum += X[i * D + d] * Y[j * D + d];
  return sum;
}
