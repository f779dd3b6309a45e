import { describeValue, InvalidArgumentError, Tensor } from '@tilewise/core';
import { call, traceOf } from './operation-call.ts';
import type { Operand, Variable } from './trace.ts';

/** A number or a host tensor as a variable of the function that is being traced. */
export function constant(value: Tensor | number): Variable {
  if (typeof value !== 'number' && !(value instanceof Tensor))
    throw new InvalidArgumentError('value', `must be a number or a Tensor, got ${describeValue(value)}`);
  return traceOf('constant', []).constant(value);
}

/** The elements of x in row-major order with another shape; one extent may be −1 and is then inferred. */
export function reshape(x: Operand, shape: readonly number[]): Variable {
  return call('StaticReshape', [x], { shape, specialZero: false })[0];
}

/** The dimensions in another order: dimension d of the result is dimension order[d] of x. */
export function transpose(x: Operand, order: readonly number[]): Variable {
  return call('StaticTranspose', [x], { order })[0];
}

/** Concatenates tensors along an axis. */
export function concat(inputs: readonly Operand[], options: { readonly axis: number }): Variable {
  if (!Array.isArray(inputs))
    throw new InvalidArgumentError('inputs', `must be an array of tensors, got ${describeValue(inputs)}`);
  return call('Concat', inputs, options)[0];
}

/** Splits a tensor along an axis into parts of the given sizes. */
export function split(
  x: Operand,
  options: { readonly axis: number; readonly sizes: readonly number[] },
): readonly Variable[] {
  return call('Split', [x], options, options?.sizes?.length);
}
