import { checkProbability } from '../errors.ts';
import { firstWordAbove } from '../stream/uniform.ts';
import type { WgslPiece } from '../wgsl-pieces/piece.ts';

/**
 * `fn philox_uniform(word: u32) -> f32`, bit-equal to `uniformFromWord`.
 *
 * WGSL leaves the rounding of u32 → f32 and of f32 addition to the implementation, so both roundings to
 * nearest-even are done on integers here, and the remaining floating-point operations (converting a 24-bit
 * integer, scaling by a power of two) are exact.
 */
export const uniformWgsl: WgslPiece = {
  code: `fn philox_uniform(word: u32) -> f32 {
  if (word < 0x1000000u) {
    // word + 1/2 in units of 2^-32; from 2^23 on it is a tie, which rounds to the even neighbour.
    let tie = word >= 0x800000u;
    let doubled = select(2u * word + 1u, 2u * (word + (word & 1u)), tie);
    return f32(doubled) * 0x1p-33f;
  }
  // The word itself needs rounding, which absorbs the added half.
  let shift = 8u - countLeadingZeros(word);
  let rest = word & ((1u << shift) - 1u);
  let half = 1u << (shift - 1u);
  let kept = word >> shift;
  let up = rest > half || (rest == half && (kept & 1u) == 1u);
  let scale = bitcast<f32>((95u + shift) << 23u);
  return f32(kept + select(0u, 1u, up)) * scale;
}
`,
};

/**
 * `fn philox_normal_pair(x: u32, y: u32) -> vec2f`: two standard normals by Box–Muller, the sine first, as in
 * `normalPairFromWords`. The GPU computes the logarithm, sine and cosine, so the normals are only close to
 * those computed elsewhere: WGSL guarantees sine and cosine to 2^-11 absolute, and only on [-π, π], which is
 * why the angle is moved there.
 */
export const normalWgsl: WgslPiece = {
  code: `fn philox_normal_pair(x: u32, y: u32) -> vec2f {
  let radius = sqrt(max(-2.0 * log(philox_uniform(x)), 0.0));
  let angle = 6.2831855f * (philox_uniform(y) - 0.5);
  return -radius * vec2f(sin(angle), cos(angle));
}
`,
  requires: [uniformWgsl],
};

/**
 * `struct BernoulliParams` (two u32 words) and `fn philox_bernoulli(word: u32, p: BernoulliParams) -> bool`,
 * decided on the integer exactly as in `fillBernoulli`. {@link bernoulliUniforms} computes the words.
 */
export const bernoulliWgsl: WgslPiece = {
  code: `struct BernoulliParams {
  threshold: u32,
  always: u32,
}

fn philox_bernoulli(word: u32, p: BernoulliParams) -> bool {
  return word < p.threshold || p.always != 0u;
}
`,
};

/** The fields of the WGSL `BernoulliParams`, in order. */
export interface BernoulliUniforms {
  /** Words below it are true. */
  readonly threshold: number;
  /** 1 if every word is true, which no 32-bit threshold can express; otherwise 0. */
  readonly always: number;
}

/**
 * The parameters of `philox_bernoulli` for probability `p`.
 *
 * @throws InvalidArgumentError if `p` is not in [0, 1].
 */
export function bernoulliUniforms(p: number): BernoulliUniforms {
  const end = firstWordAbove(checkProbability('p', p));
  return end === 2 ** 32 ? { threshold: 0xffffffff, always: 1 } : { threshold: end, always: 0 };
}
