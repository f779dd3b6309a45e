/** Elements that a row of masks may be written before its first and behind its last column. */
export const MASK_MARGIN: number = 32;

/** The schemes of `@tilewise/philox` tile by tile: masks of 32 bits, all ones where a weight is kept. */
export interface DropoutKernels {
  /**
   * A word per weight, kept where it is at least `threshold` (below 2^32): row i starts at word `position` +
   * i·`rowStride`, a block has four words, and its counter is (number, other), or (other, first word) with
   * `counted`.
   */
  keepWords(
    m: number,
    n: number,
    masks: number,
    ld: number,
    positionLow: number,
    positionHigh: number,
    rowStride: number,
    otherLow: number,
    otherHigh: number,
    counted: boolean,
    key0: number,
    key1: number,
    threshold: number,
  ): void;
  /**
   * A byte per weight, kept where it is below `threshold`, in FlashAttention-2's order; `counter` is that of
   * the head.
   */
  keepBytes(
    m: number,
    n: number,
    masks: number,
    ld: number,
    counterLow: number,
    counterHigh: number,
    i0: number,
    j0: number,
    key0: number,
    key1: number,
    threshold: number,
  ): void;
}
