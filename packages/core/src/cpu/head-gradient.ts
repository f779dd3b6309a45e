import type { Kernels } from './kernels.ts';
import type { RowResult } from './results.ts';

/**
 * The gradient of one head of k or v while the query heads that share it are worked through. It is summed in f32, in a
 * fixed order.
 */
export interface HeadGradient {
  /** Row-major: position j at `sums[j·ld]`. */
  readonly sums: Float32Array;
  /** Turns to head h of sequence b, and stores the one before. */
  select(b: number, h: number, length: number): void;
  /** Stores the last head. */
  finish(): void;
}

/** Sums for heads of up to `positions` positions, rows `ld` apart. */
export function createHeadGradient(
  kernels: Kernels,
  result: RowResult,
  positions: number,
  ld: number,
): HeadGradient {
  const sums = kernels.allocate(positions * ld);
  let b = 0;
  let h = 0;
  let length = 0;
  function finish(): void {
    result.store(b, h, 0, length, sums, 0, ld);
    length = 0;
  }
  return {
    sums,
    select(nextB, nextH, nextLength) {
      if (nextB === b && nextH === h && length > 0) return;
      finish();
      b = nextB;
      h = nextH;
      length = nextLength;
      sums.fill(0, 0, length * ld);
    },
    finish,
  };
}
