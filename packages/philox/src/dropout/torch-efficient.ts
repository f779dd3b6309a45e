import { fillBlocks } from '../stream/fill-blocks.ts';
import { firstWordAbove } from '../stream/uniform.ts';
import { laneWgsl, philox4x32Wgsl } from '../wgsl-pieces/block.ts';
import { dropoutTypesWgsl } from '../wgsl-pieces/dropout-types.ts';
import type { WgslPiece } from '../wgsl-pieces/piece.ts';
import { u64Wgsl } from '../wgsl-pieces/u64.ts';
import { wordDecisionsWgsl } from '../wgsl-pieces/word-decisions.ts';
import { elementCount, roundUpTo4, rowIndex } from './element-index.ts';
import type { DropoutDraw, DropoutRule, DropoutScheme, KeepDecider } from './scheme.ts';

const CHUNK = 1024;
const ROUNDS = 10;

/**
 * PyTorch's memory-efficient attention and xFormers: one word of the cuRAND stream (seed, subsequence 0) per
 * element.
 *
 *     position = offset + ((b·H + h)·Sq + i)·Skv + j      mod 2^64, in 32-bit words
 *     word     = Philox4x32-10(key = seed, counter = (position / 4, 0))[position mod 4]
 *     keep     = uniform(word) > f32(p)                   that is, word >= threshold
 *
 * With packed sequences the row stride is the element's own number of keys instead of Skv, while (b·H + h)
 * still steps by Sq·Skv, the largest lengths. At p = 1 everything is dropped. Source: PyTorch's
 * `mem_eff_attention/kernel_forward.h`.
 */
export const torchEfficient: DropoutScheme = {
  rule: torchEfficientRule,
  offsetIncrement: ({ B, H, Sq, Skv }) => roundUpTo4(elementCount(B, H, Sq, Skv)),
  decider: torchEfficientDecider,
};

/** The rule for dropping with probability p; the threshold is the smallest word that is kept. */
export function torchEfficientRule(p: number): DropoutRule {
  const kept = 1 - Math.fround(p);
  return { threshold: firstWordAbove(p), scale: kept === 0 ? 0 : Math.fround(1 / kept) };
}

function torchEfficientDecider(draw: DropoutDraw): KeepDecider {
  const { seed, offset, threshold } = draw;
  const words = new Uint32Array(CHUNK + 8);
  const flag = new Uint8Array(1);
  const counter: [number, number, number, number] = [0, 0, 0, 0];

  function keepRow(b: number, h: number, i: number, j0: number, j1: number, out: Uint8Array, at = 0): void {
    const row = rowIndex(draw, b, h, i);
    for (let j = j0; j < j1; ) {
      const index = row + j;
      const low = offset[0] + (index >>> 0);
      const lo = low >>> 0;
      const hi = (offset[1] + Math.floor(index / 2 ** 32) + (low > 0xffffffff ? 1 : 0)) >>> 0;
      const lane = lo & 3;
      // Up to the next multiple of 2^32, so that no run crosses 2^64, where positions wrap around but block
      // counters do not.
      const count = Math.min(j1 - j, CHUNK, 2 ** 32 - lo);
      counter[0] = (lo >>> 2) | (hi << 30);
      counter[1] = hi >>> 2;
      fillBlocks(words, 0, (lane + count + 3) >> 2, counter, seed, ROUNDS);
      const first = at + j - j0;
      for (let n = 0; n < count; n++) out[first + n] = (words[lane + n] ?? 0) >= threshold ? 1 : 0;
      j += count;
    }
  }

  return {
    keepRow,
    keep(b, h, i, j) {
      keepRow(b, h, i, j, j + 1, flag);
      return flag[0] === 1;
    },
  };
}

/**
 * PyTorch's rule in WGSL: see {@link dropoutTypesWgsl} for the functions. `row.base` is a position in the
 * stream.
 */
export const torchEfficientWgsl: WgslPiece = {
  code: `fn dropout_row(p: DropoutParams, bh: u32, i: u32) -> DropoutRow {
  let index = u64_add(u64_mul_u32(p.head_stride, bh), u32_mul_wide(i, p.row_stride));
  return DropoutRow(u64_add(p.offset, index), i);
}

fn dropout_block(p: DropoutParams, position: vec2u) -> vec4u {
  return philox4x32_10(vec4u(u64_quarter(position), 0u, 0u), p.seed);
}
`,
  requires: [dropoutTypesWgsl, u64Wgsl, /*#__PURE__*/ philox4x32Wgsl(10), laneWgsl, wordDecisionsWgsl],
};
