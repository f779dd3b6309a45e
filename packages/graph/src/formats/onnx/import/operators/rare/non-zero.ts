import { elementCount } from '@tilewise/core';
import { int64Type } from '../../file/element-type.ts';
import type { OnnxOperator } from '../../node-call.ts';
import { hostTensor } from '../../value.ts';

/**
 * The indices of elements that are not 0, (rank, count): numbers, because the count depends on the elements.
 */
export const nonZero: OnnxOperator = call => {
  const { shape } = call.input(0);
  const places = Array.from(call.elements(0)).flatMap((x, n) => (x === 0 ? [] : [n]));
  const found = [shape.length, places.length];
  const fold = () =>
    hostTensor(
      found,
      ([d = 0, n = 0]) => Math.floor(places[n] / elementCount(shape.slice(d + 1))) % shape[d],
    );
  return { type: int64Type, shape: found, fold };
};
