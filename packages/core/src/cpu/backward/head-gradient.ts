import { type Kernels, padded, STRIP } from '../kernels/kernels.ts';
import type { RowResult } from '../operands/row-result.ts';

/**
 * The gradient of some positions of a head of k or v while the query heads that share it are worked through. It is summed in f32, in a
 * fixed order.
 */
export interface HeadGradient {
  /** Address of the sums of position j; rows are `ld` bytes apart. */
  at(j: number): number;
  readonly ld: number;
  /** Turns to positions `from` ≤ j < `to` of head h of sequence b, and stores those before. */
  select(b: number, h: number, from: number, to: number): void;
  /** Stores the last ones. */
  finish(): void;
}

/** Sums for up to `positions` positions of head size D. */
export function createHeadGradient(
  { memory }: Kernels,
  result: RowResult,
  positions: number,
  D: number,
): HeadGradient {
  const width = padded(D);
  const ld = 4 * width;
  // The last strip of a product may write a few rows beyond the head.
  const sums = memory.scratch((positions + STRIP) * width);
  let b = 0;
  let h = 0;
  let from = 0;
  let to = 0;
  function finish(): void {
    if (to > from) result.store(b, h, from, to - from, sums.at);
    to = from;
  }
  return {
    at: j => sums.at + (j - from) * ld,
    ld,
    select(nextB, nextH, nextFrom, nextTo) {
      if (nextB === b && nextH === h && nextFrom === from && nextTo === to) return;
      finish();
      b = nextB;
      h = nextH;
      from = nextFrom;
      to = Math.max(nextFrom, nextTo);
      sums.values.fill(0, 0, (to - from + STRIP) * width);
    },
    finish,
  };
}
