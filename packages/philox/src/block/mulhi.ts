/**
 * The high 32 bits of the 64-bit product of two unsigned 32-bit integers, as a signed int32 with the same
 * bits. The second factor is passed as two 16-bit halves: Philox multiplies by constants, so the split is
 * free, and no partial product exceeds 32 bits.
 */
export function mulhi(a: number, bHigh: number, bLow: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const cross = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const carry = ((cross & 0xffff) + Math.imul(aLow, bHigh)) >>> 16;
  return (Math.imul(aHigh, bHigh) + (cross >>> 16) + carry) | 0;
}
