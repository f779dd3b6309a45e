import { philox4x32Into } from '../block/block4x32.ts';
import { InvalidArgumentError } from '../errors.ts';
import { laneWgsl, philox4x32Wgsl } from '../wgsl-pieces/block.ts';
import { dropoutTypesWgsl } from '../wgsl-pieces/dropout-types.ts';
import type { WgslPiece } from '../wgsl-pieces/piece.ts';
import { u64Wgsl } from '../wgsl-pieces/u64.ts';
import { roundUpTo4 } from './element-index.ts';
import type { DropoutDraw, DropoutRule, DropoutScheme, KeepDecider } from './scheme.ts';

const ROUNDS = 7;

/**
 * FlashAttention-2 and PyTorch's flash backend: one **byte** per element; a block of seven rounds covers two
 * columns (j, j + 1) in each of four groups of 8 columns, in the rows i and i + 8 of a 16 × 32 tile.
 *
 *     first = offset + (b·H + h)·32 + (i mod 8)·4 + (j mod 8)/2
 *     block = Philox4x32-7(key = seed, counter = (first, i/16, j/32))
 *     word  = block[(j mod 32)/8]
 *     byte  = byte ((i/8) mod 2)·2 + j mod 2 of the word, byte 0 the least significant
 *     keep  = byte <= ⌊f32(1 − p)·255⌋                    that is, byte < threshold
 *
 * The keep probability is therefore a multiple of 1/256, (K + 1)/256, while `scale` is 1/(1 − p) of the
 * nominal p. FlashAttention-2 multiplies the output by `scale`, not the probabilities. i and j count within a
 * sequence, so packed sequences change nothing. As in FlashAttention-2, p must round to an f32 below 1.
 * Source: FlashAttention's `dropout.h`, `philox.cuh`.
 */
export const flashAttention2: DropoutScheme = {
  rule: flashAttention2Rule,
  offsetIncrement: ({ B, H }) => roundUpTo4(BigInt(B) * BigInt(H) * 32n),
  decider: flashAttention2Decider,
};

/** The rule for dropping with probability p; the threshold is the smallest byte that is dropped. */
export function flashAttention2Rule(p: number): DropoutRule {
  const kept = flashAttention2Kept(p, 'p');
  return { threshold: Math.floor(kept * 255) + 1, scale: Math.fround(1 / kept) };
}

/**
 * 1 − p in f32.
 * @param name the name of p in the error.
 * @throws InvalidArgumentError if p rounds to 1.
 */
export function flashAttention2Kept(p: number, name: string): number {
  const kept = Math.fround(1 - Math.fround(p));
  if (kept > 0) return kept;
  throw new InvalidArgumentError(name, `must round to an f32 below 1 for flash-attention-2, got ${p}`);
}

function flashAttention2Decider(draw: DropoutDraw): KeepDecider {
  const { seed, offset, threshold } = draw;
  const { H } = draw.shape;
  const words = new Uint32Array(4);

  function drawBlock(b: number, h: number, i: number, j: number): void {
    const steps = (b * H + h) * 32 + (i & 7) * 4 + ((j & 7) >> 1);
    const low = offset[0] + (steps >>> 0);
    const hi = offset[1] + Math.floor(steps / 2 ** 32) + (low > 0xffffffff ? 1 : 0);
    philox4x32Into(words, 0, low, hi, i >>> 4, j >>> 5, seed[0], seed[1], ROUNDS);
  }

  return {
    keep(b, h, i, j) {
      drawBlock(b, h, i, j);
      const shift = ((i >> 3) & 1) * 16 + (j & 1) * 8;
      return (((words[(j & 31) >> 3] ?? 0) >>> shift) & 255) < threshold;
    },
    keepRow(b, h, i, j0, j1, out, at = 0) {
      const shift = ((i >> 3) & 1) * 16;
      const first = at - j0;
      for (let tile = j0 - (j0 % 32); tile < j1; tile += 32) {
        for (let pair = 0; pair < 8; pair += 2) {
          drawBlock(b, h, i, tile + pair);
          for (let group = 0; group < 4; group++) {
            const bytes = (words[group] ?? 0) >>> shift;
            const j = tile + group * 8 + pair;
            if (j >= j0 && j < j1) out[first + j] = (bytes & 255) < threshold ? 1 : 0;
            if (j + 1 >= j0 && j + 1 < j1) out[first + j + 1] = ((bytes >>> 8) & 255) < threshold ? 1 : 0;
          }
        }
      }
    },
  };
}

/**
 * FlashAttention-2's rule in WGSL: see {@link dropoutTypesWgsl} for the functions. `row.base` is the low half
 * of the counter at column 0. `dropout_block(p, row, j)` is the whole block that j shares with 15 other
 * elements.
 */
export const flashAttention2Wgsl: WgslPiece = {
  code: `fn dropout_row(p: DropoutParams, bh: u32, i: u32) -> DropoutRow {
  let lane = u64_add_u32(u32_mul_wide(bh, 32u), (i & 7u) * 4u);
  return DropoutRow(u64_add(p.offset, lane), i);
}

fn dropout_block(p: DropoutParams, row: DropoutRow, j: u32) -> vec4u {
  let counter = u64_add_u32(row.base, (j & 7u) >> 1u);
  return philox4x32_7(vec4u(counter, row.i >> 4u, j >> 5u), p.seed);
}

fn dropout_bytes(p: DropoutParams, row: DropoutRow, j: u32) -> vec2u {
  let word = philox_word(dropout_block(p, row, j), (j & 31u) >> 3u) >> (((row.i >> 3u) & 1u) * 16u);
  return vec2u(word, word >> 8u) & vec2u(255u);
}

fn dropout_keep_at(p: DropoutParams, row: DropoutRow, j: u32) -> bool {
  let bytes = dropout_bytes(p, row, j);
  return select(bytes.x, bytes.y, (j & 1u) == 1u) < p.threshold;
}

fn dropout_keep4_at(p: DropoutParams, row: DropoutRow, j: u32) -> vec4<bool> {
  let first = dropout_bytes(p, row, j);
  let second = dropout_bytes(p, row, j + 2u);
  if ((j & 1u) == 0u) {
    return vec4u(first, second) < vec4u(p.threshold);
  }
  let third = dropout_bytes(p, row, j + 4u);
  return vec4u(first.y, second, third.x) < vec4u(p.threshold);
}
`,
  requires: [dropoutTypesWgsl, u64Wgsl, /*#__PURE__*/ philox4x32Wgsl(7), laneWgsl],
};
