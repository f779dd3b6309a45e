import { philox4x32Into } from '../block/block4x32.ts';
import { laneWgsl, philox4x32Wgsl } from '../wgsl-pieces/block.ts';
import { dropoutTypesWgsl } from '../wgsl-pieces/dropout-types.ts';
import type { WgslPiece } from '../wgsl-pieces/piece.ts';
import { u64Wgsl } from '../wgsl-pieces/u64.ts';
import { wordDecisionsWgsl } from '../wgsl-pieces/word-decisions.ts';
import { rowIndex } from './element-index.ts';
import type { DropoutDraw, DropoutRule, DropoutScheme, KeepDecider } from './scheme.ts';

const ROUNDS = 10;

/**
 * oneDNN's `Dropout` graph operation and its dropout attribute with an explicit offset: the offset is used
 * directly as the block counter, and the element index takes the place of the subsequence.
 *
 *     index = ((b·H + h)·Sq + i)·Skv + j                  of the dense tensor, also for padded sequences
 *     word  = Philox4x32-10(key = seed, counter = (offset, index − index mod 4))[index mod 4]
 *     keep  = word > 4294967295·p                         that is, word >= threshold
 *
 * At p = 1 everything is dropped; at p = 0 an element in 2^32 still is. oneDNN's CPU primitives take an older
 * code path when the offset is 0 (`onednnLegacyWord` in `@tilewise/philox/interop`), so use an offset of at
 * least 1 to match them. Source: oneDNN's `src/common/math_utils.hpp` and `ref_dropout`.
 */
export const onednn: DropoutScheme = {
  rule: onednnRule,
  offsetIncrement: () => 1n,
  decider: onednnDecider,
};

/** The rule for dropping with probability p; the threshold is the smallest word that is kept. */
export function onednnRule(p: number): DropoutRule {
  const dropped = Math.fround(p);
  const kept = Math.fround(1 - dropped);
  return {
    threshold: Math.floor(4294967295 * dropped) + 1,
    scale: kept === 0 ? 0 : Math.fround(1 / kept),
  };
}

function onednnDecider(draw: DropoutDraw): KeepDecider {
  const { seed, offset, threshold } = draw;
  const dense: DropoutDraw = { ...draw, rowStrides: [] };
  const words = new Uint32Array(4);

  function drawQuad(quad: number): void {
    const x = quad >>> 0;
    philox4x32Into(words, 0, offset[0], offset[1], x, Math.floor(quad / 2 ** 32), seed[0], seed[1], ROUNDS);
  }

  return {
    keep(b, h, i, j) {
      const index = rowIndex(dense, b, h, i) + j;
      const lane = index % 4;
      drawQuad(index - lane);
      return (words[lane] ?? 0) >= threshold;
    },
    keepRow(b, h, i, j0, j1, out, at = 0) {
      const row = rowIndex(dense, b, h, i);
      for (let j = j0; j < j1; ) {
        const lane = (row + j) % 4;
        drawQuad(row + j - lane);
        const count = Math.min(4 - lane, j1 - j);
        const first = at + j - j0;
        for (let n = 0; n < count; n++) out[first + n] = (words[lane + n] ?? 0) >= threshold ? 1 : 0;
        j += count;
      }
    },
  };
}

/** oneDNN's rule in WGSL: see {@link dropoutTypesWgsl} for the functions. `row.base` is an element index. */
export const onednnWgsl: WgslPiece = {
  code: `fn dropout_row(p: DropoutParams, bh: u32, i: u32) -> DropoutRow {
  return DropoutRow(u64_add(u64_mul_u32(p.head_stride, bh), u32_mul_wide(i, p.row_stride)), i);
}

fn dropout_block(p: DropoutParams, index: vec2u) -> vec4u {
  return philox4x32_10(vec4u(p.offset, index.x & 0xfffffffcu, index.y), p.seed);
}
`,
  requires: [dropoutTypesWgsl, u64Wgsl, /*#__PURE__*/ philox4x32Wgsl(10), laneWgsl, wordDecisionsWgsl],
};
