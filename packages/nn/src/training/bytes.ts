import { dtypeInfo, type TensorDesc } from '@tilewise/core';

/** What the elements of tensors take, in bytes. */
export function bytesOf(tensors: Iterable<TensorDesc>): number {
  let sum = 0;
  for (const { shape, dtype } of tensors)
    sum += dtypeInfo[dtype].bytes * shape.reduce((n, extent) => n * extent, 1);
  return sum;
}
