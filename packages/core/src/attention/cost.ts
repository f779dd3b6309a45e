import { usesVariable } from '../expr/nodes/walk.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import { elementCount } from '../tensor/shape.ts';
import { createLengths, type SequenceSide } from './host/sequences.ts';
import { createVisibility, type Visibility, type VisibilityOperands } from './host/visibility.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from './problem/problem.ts';
import { validate } from './rules/forward-rules.ts';

/** The least work and memory traffic that a problem needs, whatever the algorithm. */
export interface Cost {
  /** Visible (query head, query, key) triples over the batch. */
  readonly pairs: number;
  /** Forward for o. */
  readonly forward: Work;
  /** Backward for dq, dk, dv and (in bytes) dbias, with the scores recomputed. */
  readonly backward: Work;
}

/** One pass over a problem. */
export interface Work {
  /** Multiplications and additions of the matrix products on visible pairs. */
  readonly flops: number;
  /**
   * Traffic when each operand is read and each result written once; positions beyond a sequence's length do
   * not count.
   */
  readonly bytes: number;
}

/**
 * The work of a problem, counted as cuDNN's benchmark and PyTorch's `flop_counter` count it: a forward pass
 * has 2 products (q·kᵀ, p·v), a backward pass 5 (q·kᵀ, dO·vᵀ, ds·k, dsᵀ·q, pᵀ·dO), of 2·Dqk or 2·Dv
 * operations per pair:
 *
 *     forward = 2 · pairs · (Dqk + Dv)          backward = 2 · pairs · (3·Dqk + 2·Dv)
 *
 * @param operands the operands that decide visibility: lengths, masks, captures. Without them the result is
 * an upper bound: every sequence is assumed to have its full length, and mask, block mask and mask mod to
 * hide nothing.
 * @throws InvalidArgumentError if `problem` is not a forward problem, or if `operands` lacks one that the
 * problem names.
 */
export function cost(problem: AttentionProblem, operands?: VisibilityOperands): Cost {
  validate(problem);
  const asked: AttentionProblem = operands ? problem : { ...problem, lengthsQ: 'full', lengthsKv: 'full' };
  const visibility = createVisibility(asked, operands ?? null);
  const pairs = visibility.rangesAreExact
    ? pairsInRanges(asked, visibility)
    : pairsOneByOne(asked, visibility);
  const { Dqk, Dv } = problem;
  const bytes = traffic(problem, createLengths(asked, operands ?? {}));
  return {
    pairs,
    forward: { flops: 2 * pairs * (Dqk + Dv), bytes: bytes.forward },
    backward: { flops: 2 * pairs * (3 * Dqk + 2 * Dv), bytes: bytes.backward },
  };
}

/**
 * Counts pairs if only lengths and the band decide. If all sequences have the full length, each has the same
 * number of pairs.
 */
function pairsInRanges(problem: AttentionProblem, { lengthQ, lengthKv, diagonalOffset }: Visibility): number {
  const { B, Hq, band, lengthsQ, lengthsKv } = problem;
  const pairsOf = (b: number): number => {
    const [queries, keys, offset] = [lengthQ(b), lengthKv(b), diagonalOffset(b)];
    const upTo = (bound: number): number => sumOfClamped(queries, offset + bound, keys);
    return upTo((band?.right ?? Infinity) + 1) - upTo(-(band?.left ?? Infinity));
  };
  if (B === 0) return 0;
  if (lengthsQ === 'full' && lengthsKv === 'full') return B * Hq * pairsOf(0);
  return Hq * sumOver(B, pairsOf);
}

/** Σ over i in [0, n) of i + shift, clamped to [0, most]. */
function sumOfClamped(n: number, shift: number, most: number): number {
  const first = Math.min(Math.max(-shift, 0), n);
  const end = Math.min(Math.max(most - shift, first), n);
  const within = end > first ? ((end - first) * (first + end - 1 + 2 * shift)) / 2 : 0;
  return within + (n - end) * most;
}

function pairsOneByOne(problem: AttentionProblem, { lengthQ, keyRange, isVisible }: Visibility): number {
  const { B, Hq } = problem;
  // Counting takes S² steps per head, so it pays to count one head if all heads see the same pairs.
  const heads = headsAgree(problem) ? 1 : Hq;
  let pairs = 0;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < lengthQ(b); i++) {
        const [lo, hi] = keyRange(b, i);
        for (let j = lo; j < hi; j++) if (isVisible(b, h, i, j)) pairs++;
      }
    }
  }
  return (pairs * Hq) / heads;
}

function headsAgree({ mask, blockMask, maskMod }: AttentionProblem): boolean {
  const usesHead = maskMod !== null && usesVariable(maskMod, 'h');
  return (mask?.strides[1] ?? 0) === 0 && (blockMask?.strides[1] ?? 0) === 0 && !usesHead;
}

const F32_BYTES = 4;

function traffic(
  problem: AttentionProblem,
  { q: queries, kv: keys }: { readonly q: SequenceSide; readonly kv: SequenceSide },
): { readonly forward: number; readonly backward: number } {
  const { B, Hq, Sq, Skv, Dv, outputs, dropout, bias } = problem;
  const tokensQ = sumOver(B, queries.length);
  const tokensKv = sumOver(B, keys.length);
  const operand = ({ dtype, shape }: OperandDesc, tokens: number) =>
    shape[1] * tokens * shape[3] * dtypeInfo[dtype].bytes;
  const rows = Hq * tokensQ * F32_BYTES;

  const q = operand(problem.q, tokensQ);
  const kv = operand(problem.k, tokensKv) + operand(problem.v, tokensKv);
  const o = Hq * tokensQ * Dv * dtypeInfo[problem.o.dtype].bytes;
  const masks = [bias, problem.mask, problem.blockMask, dropout?.kind === 'mask' ? dropout.mask : null];
  const read = q + kv + masks.reduce((sum, desc) => sum + (desc ? broadcastBytes(desc) : 0), 0);
  const rowResults = rows * (1 + Number(outputs.max) + Number(outputs.sumExp));
  const keepMask = outputs.dropoutMask ? B * Hq * Sq * Skv : 0;
  return {
    forward: read + o + rowResults + keepMask,
    // o, dO and lse come in; dq, dk, dv and dbias go out.
    backward: read + 2 * o + rows + q + kv + (bias ? broadcastBytes(bias) : 0),
  };
}

function sumOver(B: number, term: (b: number) => number): number {
  let sum = 0;
  for (let b = 0; b < B; b++) sum += term(b);
  return sum;
}

function broadcastBytes({ dtype, source }: BroadcastDesc): number {
  return elementCount(source) * dtypeInfo[dtype].bytes;
}
