import type { PhiloxStream } from '@tilewise/philox';

/** An integer in [0, n): the upper word of u32 · n. Its bias, below n / 2^32, does not matter here. */
export function below(random: PhiloxStream, n: number): number {
  return Math.floor((random.nextU32() * n) / 2 ** 32);
}

/** The numbers 0 … n − 1 in random order (Fisher and Yates). */
export function permutation(random: PhiloxStream, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
