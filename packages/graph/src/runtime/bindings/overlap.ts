import { dtypeInfo, elementCount, isContiguous, maxOffset, sameShape, type TensorDesc } from '@tilewise/core';
import type { Place } from '@tilewise/core/primitive';

/** A tensor and its location in memory. */
export interface Placed extends Place {
  readonly desc: TensorDesc;
}

/** Whether two tensors share an element. Tensors that interleave without a shared element do not overlap. */
export function overlap(a: Placed, b: Placed): boolean {
  if (a.memory !== b.memory) return false;
  if (elementCount(a.desc.shape) === 0 || elementCount(b.desc.shape) === 0) return false;
  const start = Math.max(a.byteOffset, b.byteOffset);
  const end = Math.min(endOf(a), endOf(b));
  if (start >= end) return false;
  if ([a, b].every(({ desc: { shape, strides } }) => isContiguous(shape, strides))) return true;
  const taken = new Uint8Array(end - start);
  visitElements(a, (from, to) => {
    taken.fill(1, Math.max(from - start, 0), Math.max(to - start, 0));
    return false;
  });
  return visitElements(b, (from, to) => {
    for (let byte = Math.max(from, start); byte < Math.min(to, end); byte++)
      if (taken[byte - start]) return true;
    return false;
  });
}

/** Whether two tensors in the same memory have all their elements at the same addresses. */
export function isSamePlace(a: Placed, b: Placed): boolean {
  const isStep = (step: number, d: number): boolean => a.desc.shape[d] < 2 || step === b.desc.strides[d];
  return (
    a.byteOffset === b.byteOffset && sameShape(a.desc.shape, b.desc.shape) && a.desc.strides.every(isStep)
  );
}

/** The offset of the first byte after a tensor. */
export function endOf({ desc: { dtype, shape, strides }, byteOffset }: Placed): number {
  return byteOffset + (maxOffset(shape, strides) + 1) * dtypeInfo[dtype].bytes;
}

/** Calls `visit` with the bytes of each element until it returns true. */
function visitElements(
  { desc: { dtype, shape, strides }, byteOffset }: Placed,
  visit: (from: number, to: number) => boolean,
): boolean {
  const { bytes } = dtypeInfo[dtype];
  const along = (d: number, from: number): boolean => {
    if (d === shape.length) return visit(from, from + bytes);
    for (let n = 0; n < shape[d]; n++) if (along(d + 1, from + n * strides[d] * bytes)) return true;
    return false;
  };
  return along(0, byteOffset);
}
