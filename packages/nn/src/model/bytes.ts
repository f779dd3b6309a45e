import { dtypeInfo, type TensorDesc } from '@tilewise/core';

/** The size of the elements of tensors, in bytes. */
export function bytesOf(tensors: Iterable<TensorDesc>): number {
  let sum = 0;
  for (const { shape, dtype } of tensors)
    sum += dtypeInfo[dtype].bytes * shape.reduce((n, extent) => n * extent, 1);
  return sum;
}
