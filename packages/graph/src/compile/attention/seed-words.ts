import { joinU64 } from '@tilewise/philox';

/** The two words of a 64-bit number that is stored as two words or as one number. */
export function wordsOf(read: Float64Array): readonly [low: number, high: number] {
  return read.length === 2 ? [read[0], read[1]] : [read[0] >>> 0, Math.floor(read[0] / 2 ** 32) >>> 0];
}

/** The 64-bit number that is stored as two words or as one number. */
export function word64Of(read: Float64Array): bigint {
  return joinU64([...wordsOf(read)]);
}
