import type { Tensor } from '../../tensor/tensor.ts';
import type { AttentionProblem, Operands } from '../problem/problem.ts';
import { createLengths } from './sequences.ts';

/** Positions from `lo` to `hi` (exclusive); an empty range is [0, 0). */
export type PositionRange = readonly [lo: number, hi: number];

/**
 * The keys that each query may see by lengths and diagonal band; masks may hide some of them. Every method
 * asks about query i and key j of sequence b; positions count within the sequence, in all layouts.
 */
export interface KeyRanges {
  /** The number of queries of sequence b. Rows beyond them see no key. */
  lengthQ(b: number): number;
  /** The number of keys of sequence b. */
  lengthKv(b: number): number;
  /**
   * The offset from i to the diagonal key: 0 (top-left), or lengthKv(b) − lengthQ(b) (bottom-right, per
   * sequence).
   */
  diagonalOffset(b: number): number;
  /** The keys that query i may see. */
  keyRange(b: number, i: number): PositionRange;
  /** Writes the `keyRange` of `count` queries from i0 on to `out`, as lo and hi of each query in turn. */
  keyRanges(b: number, i0: number, count: number, out: Int32Array): void;
  /** The queries that may see key j. */
  queryRange(b: number, j: number): PositionRange;
}

/**
 * The ranges of a problem. The rules are cuDNN's (right bound, then left bound), with FlashAttention's
 * counting of the window. No other code on the host implements them.
 * @throws InvalidArgumentError if lengths that the problem names are missing.
 */
export function createKeyRanges(problem: AttentionProblem, operands: Partial<Operands<Tensor>>): KeyRanges {
  const lengths = createLengths(problem, operands);
  const { band } = problem;
  const left = band?.left ?? Infinity;
  const right = band?.right ?? Infinity;
  const lengthQ = lengths.q.length;
  const lengthKv = lengths.kv.length;

  function diagonalOffset(b: number): number {
    return band?.align === 'bottom-right' ? lengthKv(b) - lengthQ(b) : 0;
  }

  function keyRanges(b: number, i0: number, count: number, out: Int32Array): void {
    const queries = lengthQ(b);
    const keys = lengthKv(b);
    const offset = diagonalOffset(b);
    for (let n = 0; n < count; n++) {
      const diagonal = i0 + n + offset;
      const lo = Math.max(diagonal - left, 0);
      const hi = Math.min(diagonal + right + 1, keys);
      const sees = i0 + n >= 0 && i0 + n < queries && lo < hi;
      out[2 * n] = sees ? lo : 0;
      out[2 * n + 1] = sees ? hi : 0;
    }
  }

  const range = new Int32Array(2);
  function keyRange(b: number, i: number): PositionRange {
    keyRanges(b, i, 1, range);
    return [range[0], range[1]];
  }

  function queryRange(b: number, j: number): PositionRange {
    if (j < 0 || j >= lengthKv(b)) return empty;
    const diagonal = j - diagonalOffset(b);
    return clip(diagonal - right, diagonal + left + 1, lengthQ(b));
  }

  return { lengthQ, lengthKv, diagonalOffset, keyRange, keyRanges, queryRange };
}

const empty: PositionRange = [0, 0];

function clip(lo: number, hi: number, length: number): PositionRange {
  const from = Math.max(lo, 0);
  const to = Math.min(hi, length);
  return from < to ? [from, to] : empty;
}
