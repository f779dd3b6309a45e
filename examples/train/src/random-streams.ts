import { PhiloxStream } from '@tilewise/philox';

/**
 * What is random in a run, all of it from one seed: each purpose has Philox subsequences of its own, and what
 * is drawn in a step depends on the number of the step alone, so that a run can be taken up again anywhere.
 */
const purposes = { evaluation: 1n, sample: 2n, picture: 3n, training: 4n, parameter: 5n } as const;

/** What a seed is used for. */
export type Purpose = keyof typeof purposes;

/** Number n, below 2^48, of the streams of a purpose. */
export function streamOf(purpose: Purpose, n: number | bigint = 0n): bigint {
  return (purposes[purpose] << 48n) + BigInt(n);
}

/** A random stream of a seed. */
export function randomStream(seed: number | bigint, purpose: Purpose, n: number | bigint = 0n): PhiloxStream {
  return new PhiloxStream(seed, { subsequence: streamOf(purpose, n) });
}

/** The seed of dropout: another key, since oneDNN's counters are not those of a stream. */
export function dropoutSeed(seed: number | bigint): bigint {
  return BigInt.asUintN(64, BigInt(seed) ^ 0x9e3779b97f4a7c15n);
}
