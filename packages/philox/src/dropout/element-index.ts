import type { DropoutDraw } from './scheme.ts';

/**
 * Linear index of element (b, h, i, 0): ((b·H + h)·Sq)·Skv + i·rowStride. Exact in a double, because shapes
 * whose element count is not a safe integer are rejected earlier.
 */
export function rowIndex(draw: DropoutDraw, b: number, h: number, i: number): number {
  const { H, Sq, Skv } = draw.shape;
  return (b * H + h) * Sq * Skv + i * (draw.rowStrides[b] ?? Skv);
}

/** The exact number of elements of the attention matrix. */
export function elementCount(B: number, H: number, Sq: number, Skv: number): bigint {
  return BigInt(B) * BigInt(H) * BigInt(Sq) * BigInt(Skv);
}

/** The next multiple of 4 at or above `count`: generators hand out whole blocks. */
export function roundUpTo4(count: bigint): bigint {
  return ((count + 3n) / 4n) * 4n;
}
