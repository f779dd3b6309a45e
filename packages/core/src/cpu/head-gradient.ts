import { type Kernels, padded, STRIP } from './kernels/kernels.ts';
import type { RowResult } from './results.ts';

/**
 * The gradient of one head of k or v while the query heads that share it are worked through. It is summed in f32, in a
 * fixed order.
 */
export interface HeadGradient {
  /** Address of the row-major sums; rows are `ld` bytes apart. */
  readonly at: number;
  readonly ld: number;
  /** Turns to head h of sequence b, and stores the one before. */
  select(b: number, h: number, length: number): void;
  /** Stores the last head. */
  finish(): void;
}

/** Sums for heads of up to `positions` positions of head size D. */
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
  let length = 0;
  function finish(): void {
    result.store(b, h, 0, length, sums.at, ld);
    length = 0;
  }
  return {
    at: sums.at,
    ld,
    select(nextB, nextH, nextLength) {
      if (nextB === b && nextH === h && length > 0) return;
      finish();
      b = nextB;
      h = nextH;
      length = nextLength;
      sums.values.fill(0, 0, (length + STRIP) * width);
    },
    finish,
  };
}
