import { repeat } from '../../../../codegen/text.ts';
import { sums } from '../gemm/score-gemm.ts';
import { divisorUpTo } from '../memory.ts';
import type { TileArithmetic, VectorSearch } from '../workgroup-tile.ts';

/** The largest magnitudes that are multiplied in f16. */
const limits = { qk: 32, v: 16 } as const;
/** The largest number of products in a short sum. */
const most = { qk: 32, v: 16 } as const;
/**
 * The factor of probabilities when they are converted to f16, so that small ones are not lost. With dropout,
 * probabilities are at most `maxWeight`.
 */
const weightScale = 64;
const maxWeight = 2;

/** Finds vectors that exceed a limit. */
const beyond = (limit: number): VectorSearch => ({ guard: 'true', finds: x => `exceeds(${x}, ${limit}.0)` });

/**
 * Computes products of f16 in f16, two per instruction if a device has such instructions: a few products are
 * added in f16, and these short sums are added in f32. The error bounds, with f16's unit u = 2⁻¹¹ (11 bits,
 * up to 65504), for n products in a short sum:
 *
 * - Nothing overflows. From the first chunk with a q or k above 32 or a v above 16 (including NaN and
 *   infinity), a workgroup multiplies in f32. Until then, a short sum is at most 32 · 32 · 32, or 16 · 128 ·
 *   16, which is 2¹⁵.
 * - A score is computed as if each product of q and k had a relative error of at most (n + 1)·u. Its error is
 *   at most Σ|q·k| · scale · (n + 1)·u, and with the signs of real data about √n·u instead of (n + 1)·u. For
 *   normally distributed numbers, with n = 32 and D = 64 or 128, scores are accurate to 0.008, and o to about
 *   0.002 of its largest value.
 * - Probabilities are at most 1, or 2 with dropout, and are rounded and multiplied as 64·P. The error of o is
 *   at most (n + 2)·u · Σ P|v| / l.
 * - A device may flush numbers below 2⁻¹⁴ to 0. Scores lose at most D · 2⁻¹⁴ · scale, and o at most 2⁻²⁰ · (1
 *   + max|v|) / l per key.
 *
 * Gradients have no natural scale: the gradients of a mean over many tokens are all below 2⁻¹⁴. Backward
 * therefore stays in f32.
 */
export const f16Arithmetic: TileArithmetic = {
  // `exceeds(x, limit)`: whether a component exceeds the limit or is NaN. The test uses the bits, because
  // WGSL lets arithmetic assume that there are no NaNs.
  part: {
    code: `fn exceeds(x: vec4f, limit: f32) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(bitcast<u32>(limit)));
}`,
  },
  weight: {
    ...{ type: 'vec4<f16>', bytes: 8, max: maxWeight },
    stored: value => `vec4<f16>(${weightScale}.0 * ${value})`,
    read: at => `vec4f(${at}) * ${1 / weightScale}`,
  },
  search: { scores: beyond(limits.qk), sums: beyond(limits.v) },
  scores(tile, sum) {
    const { rows, cols } = tile;
    const each = (text: (b: number) => string): string => repeat(rows * cols, text);
    return `${each(b => `var short${b} = vec4<f16>();`)}
    ${sums(tile, 'short', 'f16')}
    ${each(b => `${sum}${b} += vec4f(short${b});`)}`;
  },
  sums({ rows, read, perSum }) {
    const count = divisorUpTo(most.v, rows);
    return `for (var k1 = 0u; k1 < ${rows}u; k1 += ${count}u) {
        ${perSum(({ r, n }) => `var short${r}_${n} = vec4<f16>();`)}
        for (var k = k1; k < k1 + ${count}u; k++) {
        ${read}
        ${perSum(({ r, n, w, x }) => `short${r}_${n} = fma(vec4<f16>(${w}), ${x}, short${r}_${n});`)}
        }
        ${perSum(({ r, n, sum }) => `${sum} = fma(vec4f(short${r}_${n}), vec4f(${1 / weightScale}), ${sum});`)}
      }`;
  },
  reason(role, { stagingDType, headDimChunk }) {
    if (role === 'decode')
      return 'must multiply in f32 for few queries: their speed is limited by memory, not by arithmetic';
    if (role !== 'forward') return 'must multiply in f32: gradients may be too small for f16';
    if (stagingDType !== 'f16') return 'must have stagingDType f16 to multiply in f16';
    return 4 * headDimChunk > most.qk
      ? `must have a headDimChunk of at most ${most.qk / 4} to multiply in f16, got ${headDimChunk}`
      : null;
  },
};
