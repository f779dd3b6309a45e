import { PhiloxStream } from '@tilewise/philox';

/** The random choices of a run other than weights and dropout; each purpose has its own random streams. */
const purposes = ['evaluation', 'picture', 'training'] as const;

/** Stream n, below 2^48, of a purpose: the draws of a step depend only on the number of the step. */
export function randomStream(seed: number | bigint, purpose: (typeof purposes)[number], n = 0): PhiloxStream {
  return new PhiloxStream(seed, { subsequence: (BigInt(1 + purposes.indexOf(purpose)) << 48n) + BigInt(n) });
}

/** An integer in [0, n): the upper word of u32 · n. Its bias, below n / 2^32, does not matter here. */
export function below(random: PhiloxStream, n: number): number {
  return Math.floor((random.nextU32() * n) / 2 ** 32);
}

/** The numbers 0 … n − 1 in random order (Fisher–Yates). */
export function permutation(random: PhiloxStream, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
