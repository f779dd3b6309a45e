import { PhiloxStream } from '@tilewise/philox';

/** FNV-1a, 32 bits: a seed for values that a case leaves to chance without naming a seed. */
export function seedOf(text: string): bigint {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return BigInt(hash);
}

/** An integer from 1 to `most`. */
export function drawInteger(stream: PhiloxStream, most: number): number {
  return 1 + Math.floor((stream.nextU32() / 2 ** 32) * most);
}

/** Non-overlapping streams of one seed, by purpose. */
export function streamFor(seed: bigint, purpose: number): PhiloxStream {
  return new PhiloxStream(seed, { subsequence: BigInt(purpose) });
}
