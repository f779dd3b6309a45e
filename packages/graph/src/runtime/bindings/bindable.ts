import {
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  sameShape,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { describeTensor, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isScalarValue, type ScalarValue } from '../../ir/tensor/scalar.ts';
import { type KnownTensor, knownOf, scalarTensor } from '../../ir/tensor/storage.ts';

/**
 * A value that may be bound to a tensor of a graph: an engine tensor, a host tensor, or, for a scalar, a
 * number in the range of its dtype (for a bool also true or false).
 */
export type Bindable<T> = T | Tensor | ScalarValue;

/**
 * Checks a tensor that is bound to a logical tensor.
 * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError naming the tensor.
 */
export function checkBound(tensor: LogicalTensor, bound: TensorDesc | undefined, expected: TensorDesc): void {
  const name = `tensor ${describeTensor(tensor)}`;
  if (bound === undefined) throw new InvalidArgumentError(name, 'is not bound');
  if (!isTensor(bound))
    throw new InvalidArgumentError(name, `must be bound to a tensor, got ${describeValue(bound)}`);
  if (bound.dtype !== expected.dtype) {
    throw new InvalidDTypeError(name, `must be bound to ${expected.dtype}, got ${bound.dtype}`);
  }
  if (!sameShape(bound.shape, expected.shape)) {
    throw new InvalidShapeError(name, `must be bound to shape [${expected.shape}], got [${bound.shape}]`);
  }
  const differs = expected.shape.some((n, d) => n > 1 && bound.strides[d] !== expected.strides[d]);
  if (differs) {
    throw new InvalidShapeError(
      name,
      `was compiled for strides [${expected.strides}], got [${bound.strides}]`,
    );
  }
}

/** The shapes and strides of bound tensors, by id. */
export const knownTensors = <T extends TensorDesc>(
  tensors: readonly LogicalTensor[],
  bindings: Readonly<Record<number, Bindable<T> | undefined>>,
): Record<number, KnownTensor> =>
  Object.fromEntries(tensors.map(t => [t.id, knownTensor(t, bindings[t.id])]));

function knownTensor<T extends TensorDesc>(
  tensor: LogicalTensor,
  bound: Bindable<T> | undefined,
): KnownTensor {
  const host = isScalarValue(bound) ? scalarTensor(tensor, bound) : bound;
  return isTensor(host) ? knownOf(tensor, host) : { shape: tensor.shape ?? [] };
}

function isTensor(x: unknown): x is TensorDesc {
  return x instanceof Tensor || (typeof x === 'object' && x !== null && 'shape' in x);
}
