import type { Extents, Masks } from './parameters.ts';

/** Elements that a row of masks may be written before its first and behind its last column. */
export const MASK_MARGIN: number = 32;

type Position = [positionLow: number, positionHigh: number];
type Other = [otherLow: number, otherHigh: number];
type Counter = [counterLow: number, counterHigh: number];
type Draw = [key0: number, key1: number, threshold: number];

/** The schemes of `@tilewise/philox` tile by tile. */
export interface DropoutKernels {
  /**
   * A word per weight, kept where it is at least `threshold` (below 2^32): row i starts at word `position` +
   * i·`rowStride`, a block has four words, and its counter is (number, other), or (other, first word) with
   * `counted`.
   */
  keepWords(
    ...of: [...Extents, ...Masks, ...Position, rowStride: number, ...Other, counted: boolean, ...Draw]
  ): void;
  /**
   * A byte per weight, kept where it is below `threshold`, in FlashAttention-2's order; `counter` is that of
   * the head.
   */
  keepBytes(...of: [...Extents, ...Masks, ...Counter, i0: number, j0: number, ...Draw]): void;
}
