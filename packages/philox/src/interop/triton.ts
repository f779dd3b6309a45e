import { philox4x32, type U32x4 } from '../block/block4x32.ts';
import { toU64, type Uint } from '../u64.ts';

/**
 * Triton's `tl.randint4x(seed, offset)`: the block at counter (offset, 0), key = seed, both unsigned 64-bit.
 *
 * Source: `python/triton/language/random.py`; equal to runs of Triton 3.8 in its interpreter.
 *
 * @throws InvalidArgumentError if an argument is not an unsigned 64-bit integer.
 */
export function tritonRandint4x(seed: Uint, offset: Uint, rounds: number = 10): U32x4 {
  const [k0, k1] = toU64(seed, 'seed');
  const [c0, c1] = toU64(offset, 'offset');
  return philox4x32([c0, c1, 0, 0], [k0, k1], rounds);
}

/**
 * Triton's `tl.rand(seed, offset)`: an f32 in [0, 1) from the first word of {@link tritonRandint4x}, whose
 * negative half (as an int32) is folded onto the other. Triton's dropout keeps an element iff this number is
 * above p.
 *
 * @throws InvalidArgumentError if an argument is not an unsigned 64-bit integer.
 */
export function tritonRand(seed: Uint, offset: Uint, rounds: number = 10): number {
  const signed = tritonRandint4x(seed, offset, rounds)[0] | 0;
  const folded = signed < 0 ? -signed - 1 : signed;
  return Math.fround(Math.fround(folded) * Math.fround(4.6566127342e-10));
}
