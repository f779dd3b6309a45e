import { dropoutRules, type U64 } from '@tilewise/philox';
import type { SequenceSide } from '../../../../attention/host/sequences.ts';
import type { AttentionProblem, DropoutDesc } from '../../../../attention/problem/problem.ts';
import type { DropoutKernels } from '../../../kernels/interface/dropout-kernels.ts';
import type { ScoreTile } from '../score-tile.ts';

/** Writes the masks of a tile, 32 bits each, to an address; rows are `ld` bytes apart. */
export type WriteMasks = (tile: ScoreTile, at: number, ld: number) => void;

/**
 * Masks that the kernels draw, starting each tile where the scheme of `@tilewise/philox` does. Null for a
 * threshold of 2^32.
 */
export function createDrawMasks(
  { Hq, Sq, Skv, k }: AttentionProblem,
  { scheme, p, seed, offset }: Extract<DropoutDesc, { kind: 'philox' }>,
  keys: SequenceSide,
  draws: DropoutKernels,
): WriteMasks | null {
  const { threshold } = dropoutRules[scheme](p);
  const [k0, k1] = seed;
  if (scheme === 'flash-attention-2') {
    return ({ b, h, i0, rows, j0, columns }, at, ld) => {
      const [low, high] = plus(offset, (b * Hq + h) * 32);
      draws.keepBytes(rows, columns, at, ld, low, high, i0, j0, k0, k1, threshold);
    };
  }
  if (threshold >= 2 ** 32) return null;
  const counted = scheme === 'onednn';
  const [from, [other0, other1]] = counted ? [ZERO, offset] : [offset, ZERO];
  return ({ b, h, i0, rows, j0, columns }, at, ld) => {
    const rowStride = counted || k.starts === 'strided' ? Skv : keys.length(b);
    const [low, high] = plus(from, (b * Hq + h) * Sq * Skv + i0 * rowStride + j0);
    draws.keepWords(rows, columns, at, ld, low, high, rowStride, other0, other1, counted, k0, k1, threshold);
  };
}

const ZERO: U64 = [0, 0];

/** A 64-bit sum; `n` is a safe integer. */
function plus([low, high]: U64, n: number): U64 {
  const sum = low + (n >>> 0);
  return [sum >>> 0, (high + Math.floor(n / 2 ** 32) + (sum > 0xffffffff ? 1 : 0)) >>> 0];
}
