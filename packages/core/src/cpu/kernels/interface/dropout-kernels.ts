import type { Extents, Masks } from './parameters.ts';

/** The elements that may be written before the first and after the last column of a row of masks. */
export const MASK_MARGIN: number = 32;

type Position = [positionLow: number, positionHigh: number];
type Other = [otherLow: number, otherHigh: number];
type Counter = [counterLow: number, counterHigh: number];
type Draw = [key0: number, key1: number, threshold: number];

/** The schemes of `@tilewise/philox` tile by tile. */
export interface DropoutKernels {
  /**
   * Draws a word per weight, which is kept if the word is at least `threshold` (below 2^32). Row i starts at
   * word `position` + i·`rowStride`. A block has four words, and its counter is (number, other), or (other,
   * first word) with `counted`.
   */
  keepWords(
    ...args: [...Extents, ...Masks, ...Position, rowStride: number, ...Other, counted: boolean, ...Draw]
  ): void;
  /**
   * Draws a byte per weight, which is kept if the byte is below `threshold`, in FlashAttention-2's order;
   * `counter` is the head's.
   */
  keepBytes(...args: [...Extents, ...Masks, ...Counter, i0: number, j0: number, ...Draw]): void;
}
