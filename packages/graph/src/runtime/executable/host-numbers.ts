import { elementCount } from '@tilewise/core';
import type { Program } from '../../ir/program/program.ts';
import type { BoundTensors } from './bound-tensors.ts';

/** Returns the numbers of a value if the host knows them. */
export type HostNumbers = (n: number, bound: Pick<BoundTensors<unknown>, 'host'>) => Float64Array | undefined;

/**
 * Makes a function that returns the numbers of a constant, or of an input that is bound to a host tensor.
 */
export function createHostNumbers({ values }: Program): HostNumbers {
  const constants = new Map<number, Float64Array>();
  const numbersOf: HostNumbers = (n, bound) => {
    const value = values[n];
    if (value.kind === 'constant') {
      const known = constants.get(n) ?? value.data.toFloat64();
      constants.set(n, known);
      return known;
    }
    if (value.kind === 'input') return bound.host(value.tensor)?.toFloat64();
    if (value.kind !== 'view') return undefined;
    // A view with all elements of its value.
    const isWhole = elementCount(values[value.of].desc.shape) === elementCount(value.desc.shape);
    return isWhole ? numbersOf(value.of, bound) : undefined;
  };
  return numbersOf;
}
