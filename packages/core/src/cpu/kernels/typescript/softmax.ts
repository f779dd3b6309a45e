import type { Kernels } from '../interface/kernels.ts';
import type { Memory } from '../memory/memory.ts';
import { exp } from './exp.ts';

/**
 * The softmax of tiles and its gradient in plain TypeScript (Milakov and Gimelshein 2018 for the running
 * form).
 */
export function typescriptSoftmax(
  memory: Memory,
): Pick<Kernels, 'updateSoftmax' | 'toProbabilities' | 'toScoreGradients' | 'dropWeights'> {
  return {
    updateSoftmax(m, n, scores, ld, largest, sum, o, ldo, width, ranges, j0) {
      const { f32, f64, i32 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (scores + i * ld) >> 2;
        const from = row + rangeStart(i32, ranges, i, j0, n);
        const to = Math.max(from, row + rangeEnd(i32, ranges, i, j0, n));
        f32.fill(0, row, from);
        f32.fill(0, to, row + (ld >> 2));
        const before = f32[(largest >> 2) + i];
        let most = before;
        for (let at = from; at < to; at++) if (f32[at] > most) most = f32[at];
        const l = (sum >> 3) + i;
        if (most === -Infinity) {
          f64[l] += weighHiddenRow(f32, from, to);
          continue;
        }
        if (most > before) {
          const shrink = exp(before - most);
          f64[l] *= shrink;
          const oi = (o + i * ldo) >> 2;
          for (let at = oi; at < oi + width; at++) f32[at] *= shrink;
          f32[(largest >> 2) + i] = most;
        }
        let total = 0;
        for (let at = from; at < to; at++) {
          const weight = exp(f32[at] - most);
          f32[at] = weight;
          total += weight;
        }
        f64[l] += total;
      }
    },
    toProbabilities(m, n, scores, ld, lse, ranges, j0) {
      const { f32, i32 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (scores + i * ld) >> 2;
        const given = f32[(lse >> 2) + i];
        const isMasked = given === -Infinity;
        const from = isMasked ? row : row + rangeStart(i32, ranges, i, j0, n);
        const to = isMasked ? row : Math.max(from, row + rangeEnd(i32, ranges, i, j0, n));
        f32.fill(0, row, from);
        for (let at = from; at < to; at++) f32[at] = exp(f32[at] - given);
        f32.fill(0, to, row + (ld >> 2));
      }
    },
    toScoreGradients(m, n, dp, p, ld, delta) {
      const { f32 } = memory;
      for (let i = 0; i < m; i++) {
        const subtrahend = f32[(delta >> 2) + i];
        const offset = (p - dp) >> 2;
        const row = (dp + i * ld) >> 2;
        // Up to the next multiple of 4, which products read.
        for (let at = row; at < row + ((n + 3) & ~3); at++) {
          const weight = f32[at + offset];
          f32[at] = weight === 0 ? 0 : weight * (f32[at] - subtrahend);
        }
      }
    },
    dropWeights(m, n, source, target, ld, masks, ldMasks, factor) {
      const { f32, i32 } = memory;
      for (let i = 0; i < m; i++) {
        const from = (source + i * ld) >> 2;
        const to = (target + i * ld) >> 2;
        const kept = (masks + i * ldMasks) >> 2;
        for (let j = 0; j < n; j++) f32[to + j] = i32[kept + j] === 0 ? 0 : factor * f32[from + j];
        for (let j = n; j & 3; j++) f32[to + j] = 0;
      }
    },
  };
}

function rangeStart(i32: Int32Array, ranges: number, i: number, j0: number, n: number): number {
  return ranges === 0 ? 0 : Math.min(Math.max(i32[(ranges >> 2) + 2 * i] - j0, 0), n);
}

function rangeEnd(i32: Int32Array, ranges: number, i: number, j0: number, n: number): number {
  return ranges === 0 ? n : Math.min(Math.max(i32[(ranges >> 2) + 2 * i + 1] - j0, 0), n);
}

/**
 * Computes the weights of a row whose scores are all −Infinity or NaN: the former become 0, NaN stays.
 * Returns their sum.
 */
function weighHiddenRow(f32: Float32Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) {
    if (f32[at] === -Infinity) f32[at] = 0;
    sum += f32[at];
  }
  return sum;
}
