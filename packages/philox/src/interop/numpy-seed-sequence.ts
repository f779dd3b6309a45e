import { describeValue, InvalidArgumentError } from '../errors.ts';
import { toUint } from '../u64.ts';

const POOL_WORDS = 4;

/**
 * NumPy's `SeedSequence(entropy).generate_state(count, uint64)`: the key of `np.random.Philox(entropy)`.
 *
 * `entropy` is any non-negative integer. The mixing is O'Neill's `seed_seq_fe` over a pool of four 32-bit
 * words. Source: `numpy/random/bit_generator.pyx`.
 *
 * @throws InvalidArgumentError if `entropy` is not a bigint of at least 0, or `count` not a whole number
 * below 2^31.
 */
export function seedSequenceState(entropy: bigint, count: number): bigint[] {
  if (typeof entropy !== 'bigint' || entropy < 0n) {
    const rule = `must be a bigint of at least 0, got ${describeValue(entropy)}`;
    throw new InvalidArgumentError('entropy', rule);
  }
  toUint(count, 'count', 31);
  const pool = mixedPool(entropyWords(entropy));
  let multiplier = 0x8b51f9dd;
  const words: bigint[] = [];
  for (let i = 0; i < 2 * count; i++) {
    let word = (pool[i % POOL_WORDS] ?? 0) ^ multiplier;
    multiplier = Math.imul(multiplier, 0x58f38ded);
    word = Math.imul(word, multiplier);
    words.push(BigInt((word ^ (word >>> 16)) >>> 0));
  }
  return Array.from({ length: count }, (_, i) => (words[2 * i] ?? 0n) | ((words[2 * i + 1] ?? 0n) << 32n));
}

/** The integer as 32-bit words, the lowest first; at least one. */
function entropyWords(entropy: bigint): number[] {
  const words: number[] = [];
  for (let rest = entropy; rest > 0n || words.length === 0; rest >>= 32n) {
    words.push(Number(BigInt.asUintN(32, rest)));
  }
  return words;
}

function mixedPool(entropy: readonly number[]): number[] {
  let multiplier = 0x43b0d7e5;
  const hash = (word: number): number => {
    const mixed = word ^ multiplier;
    multiplier = Math.imul(multiplier, 0x931e8875);
    const product = Math.imul(mixed, multiplier);
    return product ^ (product >>> 16);
  };
  const mix = (x: number, y: number): number => {
    const result = (Math.imul(x, 0xca01f9dd) - Math.imul(y, 0x4973f715)) | 0;
    return result ^ (result >>> 16);
  };
  const pool = Array.from({ length: POOL_WORDS }, (_, i) => hash(entropy[i] ?? 0));
  const stir = (target: number, source: number): void => {
    pool[target] = mix(pool[target] ?? 0, hash(source));
  };
  for (let source = 0; source < POOL_WORDS; source++) {
    for (let target = 0; target < POOL_WORDS; target++) {
      if (source !== target) stir(target, pool[source] ?? 0);
    }
  }
  for (const word of entropy.slice(POOL_WORDS)) {
    for (let target = 0; target < POOL_WORDS; target++) stir(target, word);
  }
  return pool;
}
