import { describeValue, InvalidArgumentError } from '../../errors.ts';
import { maxHeads } from '../problem/limits.ts';

/**
 * The standard ALiBi slopes of Press et al. 2022 ("Train Short, Test Long", §3). For head counts that are not
 * a power of two, they are extended as in the paper's code and cuDNN: with n = 2^⌊log2 Hq⌋, head h < n has
 * 2^(−8(h+1)/n), and head n + j has 2^(−4(2j+1)/n), the odd entries of the list for 2n heads.
 *
 * @returns Hq positive numbers (f64; the operand is f32).
 * @throws InvalidArgumentError if Hq is not a valid number of heads.
 */
export function standardSlopes(Hq: number): number[] {
  if (!Number.isInteger(Hq) || Hq < 0 || Hq > maxHeads)
    throw new InvalidArgumentError('Hq', `must be a number of heads, got ${describeValue(Hq)}`);
  const n = 2 ** Math.floor(Math.log2(Hq));
  return Array.from({ length: Hq }, (_, h) =>
    h < n ? 2 ** ((-8 * (h + 1)) / n) : 2 ** ((-4 * (2 * (h - n) + 1)) / n),
  );
}
