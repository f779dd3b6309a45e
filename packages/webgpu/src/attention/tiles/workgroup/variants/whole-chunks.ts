import type { ScoreGemm } from '../../interface/tile-gemms.ts';

/**
 * WGSL declaration of `used`, the number of a chunk's vec4s that are multiplied, as a constant; undefined
 * unless every chunk is whole. Tint omits bounds checks in a loop that counts by one up to a constant, and
 * compilers unroll the loop, for which a lane needs more registers.
 */
export const wholeChunks = (gemms: readonly ScoreGemm[], headDimChunk: number): string | undefined =>
  gemms.every(({ a }) => a.D % (4 * headDimChunk) === 0) ? `const used = ${headDimChunk}u;` : undefined;
