import { dtypeInfo, elementCount, type TensorDesc } from '@tilewise/core';

/** The total size of the elements of some tensors, in bytes. */
export function bytesOf(tensors: Iterable<TensorDesc>): number {
  let sum = 0;
  for (const { shape, dtype } of tensors) sum += dtypeInfo[dtype].bytes * elementCount(shape);
  return sum;
}
