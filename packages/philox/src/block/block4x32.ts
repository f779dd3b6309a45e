import { mulhi } from './mulhi.ts';
import { checkRounds } from './rounds.ts';
import { checkWords } from './words.ts';

/** Four unsigned 32-bit words, the first one the least significant. */
export type U32x4 = [number, number, number, number];
/** Two unsigned 32-bit words, the first one the least significant. */
export type U32x2 = [number, number];

/**
 * Philox4x32: a keyed bijection on 128 bits. Returns the random block at `counter`.
 *
 * Counter and key words are taken modulo 2^32; the result is unsigned. `rounds` is a whole number; 10 is the
 * standard, FlashAttention-2 uses 7, and 0 returns the counter. Source: Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3" (SC'11), and Random123's `philox.h`.
 * @throws InvalidArgumentError for a wrong number of words, or for a word that is not a number.
 */
export function philox4x32(counter: Readonly<U32x4>, key: Readonly<U32x2>, rounds: number = 10): U32x4 {
  checkWords('counter', counter, 4, 'number');
  checkWords('key', key, 2, 'number');
  checkRounds(rounds, 0);
  const out: U32x4 = [0, 0, 0, 0];
  philox4x32Into(out, 0, counter[0], counter[1], counter[2], counter[3], key[0], key[1], rounds);
  return [out[0] >>> 0, out[1] >>> 0, out[2] >>> 0, out[3] >>> 0];
}

/**
 * `philox4x32` without allocation: writes the four words to `out[at]` … `out[at + 3]`. In a `Uint32Array`
 * they are unsigned, in anything else they are int32 with the same bits. For use in loops: nothing is
 * checked.
 */
export function philox4x32Into(
  out: Uint32Array | number[],
  at: number,
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
  rounds: number,
): void {
  let x0 = c0 | 0;
  let x1 = c1 | 0;
  let x2 = c2 | 0;
  let x3 = c3 | 0;
  let a = k0 | 0;
  let b = k1 | 0;
  for (let round = 0; round < rounds; round++) {
    const y0 = mulhi(x2, 0xcd9e, 0x8d57) ^ x1 ^ a;
    const y2 = mulhi(x0, 0xd251, 0x1f53) ^ x3 ^ b;
    x1 = Math.imul(x2, 0xcd9e8d57);
    x3 = Math.imul(x0, 0xd2511f53);
    x0 = y0;
    x2 = y2;
    a = (a + 0x9e3779b9) | 0;
    b = (b + 0xbb67ae85) | 0;
  }
  out[at] = x0;
  out[at + 1] = x1;
  out[at + 2] = x2;
  out[at + 3] = x3;
}
