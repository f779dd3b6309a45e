import { checkRounds } from './rounds.ts';
import { checkWords } from './words.ts';

/** Four unsigned 64-bit words, the first one the least significant. */
export type U64x4 = [bigint, bigint, bigint, bigint];
/** Two unsigned 64-bit words, the first one the least significant. */
export type U64x2 = [bigint, bigint];

const low64 = (x: bigint): bigint => BigInt.asUintN(64, x);

/**
 * Philox4x64, the block function of NumPy's `Philox`: a keyed bijection on 256 bits.
 *
 * Words are taken modulo 2^64. `rounds` is a whole number, 10 by default. Source: Random123's `philox.h`.
 *
 * @throws InvalidArgumentError for a wrong number of words, or for a word that is not a bigint.
 */
export function philox4x64(counter: Readonly<U64x4>, key: Readonly<U64x2>, rounds: number = 10): U64x4 {
  checkWords('counter', counter, 4, 'bigint');
  checkWords('key', key, 2, 'bigint');
  checkRounds(rounds, 0);
  let [x0, x1, x2, x3] = counter.map(low64) as U64x4;
  let [a, b] = key.map(low64) as U64x2;
  for (let round = 0; round < rounds; round++) {
    const p0 = x0 * 0xd2e7470ee14c6c93n;
    const p1 = x2 * 0xca5a826395121157n;
    [x0, x1, x2, x3] = [(p1 >> 64n) ^ x1 ^ a, low64(p1), (p0 >> 64n) ^ x3 ^ b, low64(p0)];
    a = low64(a + 0x9e3779b97f4a7c15n);
    b = low64(b + 0xbb67ae8584caa73bn);
  }
  return [x0, x1, x2, x3];
}

/**
 * Philox2x64: a keyed bijection on 128 bits. The key is one 64-bit word, bare or as `[word]`.
 *
 * Words are taken modulo 2^64. `rounds` is a whole number, 10 by default. Source: Random123's `philox.h`.
 *
 * @throws InvalidArgumentError for a wrong number of words, or for a word that is not a bigint.
 */
export function philox2x64(
  counter: Readonly<U64x2>,
  key: bigint | readonly [bigint],
  rounds: number = 10,
): U64x2 {
  const words = typeof key === 'bigint' ? [key] : key;
  checkWords('counter', counter, 2, 'bigint');
  checkWords('key', words, 1, 'bigint');
  checkRounds(rounds, 0);
  let [x0, x1] = counter.map(low64) as U64x2;
  let k = low64(words[0]);
  for (let round = 0; round < rounds; round++) {
    const p = x0 * 0xd2b74407b1ce6e93n;
    [x0, x1] = [(p >> 64n) ^ k ^ x1, low64(p)];
    k = low64(k + 0x9e3779b97f4a7c15n);
  }
  return [x0, x1];
}
