import { checkRounds } from '../block/rounds.ts';
import { checkOptions } from '../errors.ts';
import { joinU64, toU64, type Uint } from '../u64.ts';

/** A position in a stream, in the same three numbers as cuRAND's `curand_init(seed, subsequence, offset)`. */
export interface StreamOptions {
  /** Unsigned 64-bit; the key. */
  readonly seed: Uint;
  /** Unsigned 64-bit; 0 by default. Streams of different subsequences start 2^66 words apart. */
  readonly subsequence?: Uint | undefined;
  /** Unsigned 64-bit, in **32-bit words** from the start of the subsequence; 0 by default. */
  readonly offset?: Uint | undefined;
  /** Philox rounds, a whole number from 1 to 1024; 10 by default. */
  readonly rounds?: number | undefined;
}

/**
 * Checked stream options as 32-bit words: the key, the counter of the block, and the index of the word in
 * that block.
 */
export interface StreamAddress {
  readonly key: readonly [number, number];
  readonly counter: readonly [number, number, number, number];
  readonly lane: number;
  readonly rounds: number;
}

/**
 * The key and the counter of a stream position: word `offset` is in block (subsequence·2^64 + offset/4).
 *
 * @param others the options of the call that do not belong to a position.
 * @throws InvalidArgumentError if an option is unknown or out of range.
 */
export function streamAddress(options: StreamOptions, others: readonly string[] = []): StreamAddress {
  checkOptions('options', options, ['seed', 'subsequence', 'offset', 'rounds', ...others]);
  const key = toU64(options.seed, 'seed');
  const [s0, s1] = toU64(options.subsequence ?? 0, 'subsequence');
  const [lo, hi] = toU64(options.offset ?? 0, 'offset');
  const rounds = checkRounds(options.rounds ?? 10);
  return { key, counter: [((lo >>> 2) | (hi << 30)) >>> 0, hi >>> 2, s0, s1], lane: lo & 3, rounds };
}

/** The 128-bit integer that the four words of a counter represent. */
export function joinCounter(words: ArrayLike<number>): bigint {
  return (joinU64([words[2], words[3]]) << 64n) | joinU64([words[0], words[1]]);
}
