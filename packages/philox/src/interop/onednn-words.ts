import { philox4x32 } from '../block/block4x32.ts';
import { checkOneOf } from '../errors.ts';
import { toU64, toUint, type Uint } from '../u64.ts';

/**
 * oneDNN's `philox4x32(idx, seed, offset)`, all unsigned 64-bit: the word that its `Dropout` compares with p
 * for element `index` (the scheme `onednn` uses it). Source: `src/common/math_utils.hpp` since 3.11.
 *
 * @throws InvalidArgumentError if an argument is not an unsigned 64-bit integer.
 */
export function onednnWord(index: Uint, seed: Uint, offset: Uint): number {
  const [lo, hi] = toU64(index, 'index');
  const [k0, k1] = toU64(seed, 'seed');
  const [c0, c1] = toU64(offset, 'offset');
  return pick(philox4x32([c0, c1, lo - (lo & 3), hi], [k0, k1]), lo & 3);
}

/**
 * oneDNN's 32-bit word for element `index`, which its CPU uses if the offset is 0, and its GPU if no offset
 * is given. Not a dropout scheme: it changed between releases, and since 3.11 four consecutive elements share
 * one word.
 *
 * @param release `'3.10'` for 3.10 and before, `'3.11'` for 3.11 and after.
 * @throws InvalidArgumentError if `index` or `seed` is not an unsigned 32-bit integer, or for another
 * release.
 */
export function onednnLegacyWord(index: Uint, seed: Uint, release: '3.10' | '3.11'): number {
  const element = Number(toUint(index, 'index', 32));
  const key = Number(toUint(seed, 'seed', 32));
  checkOneOf('release', release, ['3.10', '3.11']);
  const lane = element & 3;
  const x = element - lane;
  return release === '3.10'
    ? pick(philox4x32([x, x + 1, x + 2, x + 3], [key, key]), lane)
    : pick(philox4x32([x, x + 1, x, x + 3], [key, key]), 2);
}

function pick(block: readonly number[], lane: number): number {
  return block[lane] ?? 0;
}
