import type { ScoreKernels } from '../interface/tile-kernels.ts';
import type { Memory } from '../memory/memory.ts';

/** The stages of a tile between the product and the softmax, in plain TypeScript. */
export function typescriptScores(memory: Memory): ScoreKernels {
  return {
    capScores(count, scores, kept, cap) {
      const { f32 } = memory;
      const [from, to] = [scores >> 2, kept >> 2];
      for (let n = 0; n < count; n++) {
        const tanh = Math.tanh(f32[from + n] / cap);
        if (kept !== 0) f32[to + n] = tanh;
        f32[from + n] = cap * tanh;
      }
    },
    uncapGradients(count, ds, kept) {
      const { f32 } = memory;
      const [at, from] = [ds >> 2, kept >> 2];
      for (let n = 0; n < count; n++) if (f32[at + n] !== 0) f32[at + n] *= 1 - f32[from + n] ** 2;
    },
    addBias(m, n, scores, ld, bias, ldBias) {
      const { f32 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (scores + i * ld) >> 2;
        const added = (bias + i * ldBias) >> 2;
        for (let j = 0; j < n; j++) {
          f32[row + j] = f32[added + j] === -Infinity ? -Infinity : f32[row + j] + f32[added + j];
        }
      }
    },
    addAlibi(m, n, scores, ld, slope, distance) {
      const { f32 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (scores + i * ld) >> 2;
        for (let j = 0; j < n; j++) f32[row + j] -= slope * Math.abs(distance + i - j);
      }
    },
    hideUnseen(m, n, scores, ld, seen, ldSeen) {
      const { f32, u8 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (scores + i * ld) >> 2;
        for (let j = 0; j < n; j++) if (u8[seen + i * ldSeen + j] === 0) f32[row + j] = -Infinity;
      }
    },
    countSeen(m, n, seen, ldSeen, ranges, j0) {
      const { i32, u8 } = memory;
      let count = 0;
      for (let i = 0; i < m; i++) {
        const from = Math.max(i32[(ranges >> 2) + 2 * i] - j0, 0);
        const to = Math.min(i32[(ranges >> 2) + 2 * i + 1] - j0, n);
        for (let j = from; j < to; j++) if (u8[seen + i * ldSeen + j] !== 0) count++;
      }
      return count;
    },
    widenMasks(m, n, bytes, ldBytes, masks, ld) {
      const { i32, u8 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (masks + i * ld) >> 2;
        for (let j = 0; j < n; j++) i32[row + j] = u8[bytes + i * ldBytes + j] === 0 ? 0 : -1;
      }
    },
  };
}
