import { PhiloxStream } from '@tilewise/philox';

/** FNV-1a, 32 bits: a seed for what a case leaves to chance without saying from which seed. */
export function seedOf(text: string): bigint {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return BigInt(hash);
}

/** An integer in [lo, hi]. */
export function drawInteger(stream: PhiloxStream, lo: number, hi: number): number {
  return lo + Math.floor((stream.nextU32() / 2 ** 32) * (hi - lo + 1));
}

/** Streams of one seed that do not overlap, by what they are for. */
export function streamFor(seed: bigint, purpose: number): PhiloxStream {
  return new PhiloxStream(seed, { subsequence: BigInt(purpose) });
}
