import type { U32x2 } from './block4x32.ts';
import { mulhi } from './mulhi.ts';
import { checkRounds } from './rounds.ts';
import { checkWords } from './words.ts';

/**
 * Philox2x32: a keyed bijection on 64 bits. The key is one 32-bit word, bare or as `[word]`.
 *
 * Words are taken modulo 2^32; the result is unsigned. `rounds` is a whole number, 10 by default. Source:
 * Random123's `philox.h`.
 * @throws InvalidArgumentError for a wrong number of words, or for a word that is not a number.
 */
export function philox2x32(
  counter: Readonly<U32x2>,
  key: number | readonly [number],
  rounds: number = 10,
): U32x2 {
  const words = typeof key === 'number' ? [key] : key;
  checkWords('counter', counter, 2, 'number');
  checkWords('key', words, 1, 'number');
  checkRounds(rounds, 0);
  let x0 = counter[0] | 0;
  let x1 = counter[1] | 0;
  let k = words[0] | 0;
  for (let round = 0; round < rounds; round++) {
    const y0 = mulhi(x0, 0xd256, 0xd193) ^ x1 ^ k;
    x1 = Math.imul(x0, 0xd256d193);
    x0 = y0;
    k = (k + 0x9e3779b9) | 0;
  }
  return [x0 >>> 0, x1 >>> 0];
}
