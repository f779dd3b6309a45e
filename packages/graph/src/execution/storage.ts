import {
  checkObject,
  contiguousStrides,
  describeValue,
  elementCount,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  type Shape,
  type Strides,
  sameShape,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { splitU64 } from '@tilewise/philox';
import { storageDType } from '../tensor/dtype.ts';
import { describeTensor, isKnown, type LogicalTensor } from '../tensor/logical-tensor.ts';
import { brokenScalarRule, isScalarValue, type ScalarValue } from '../tensor/scalar-rule.ts';

/** What may be bound to a tensor of a graph: a tensor of the engine, one of the host, or for a scalar a number that its dtype holds (for a bool, `true` too). */
export type Bindable<T> = T | Tensor | ScalarValue;

/** What is known of a tensor at compile: its shape, and where it matters its strides. */
export interface KnownTensor {
  readonly shape: Shape;
  readonly strides?: Strides | undefined;
}

/**
 * How an engine's tensor for a logical one looks: an i64 has a last dimension of its own for its two words, and lies dense.
 * @throws InvalidShapeError when its shape is not known.
 */
export function storageDesc(tensor: LogicalTensor): TensorDesc {
  checkObject('tensor', tensor);
  const { shape, strides, dtype } = tensor;
  if (!isKnown(shape))
    throw new InvalidShapeError(`tensor ${describeTensor(tensor)}`, 'must have a known shape');
  if (dtype === 'i64') {
    const words = [...shape, 2];
    return { dtype: 'u32', shape: words, strides: contiguousStrides(words) };
  }
  const isGiven = strides !== null && strides.length === shape.length && !strides.includes(-1);
  return { dtype: storageDType(dtype), shape, strides: isGiven ? strides : contiguousStrides(shape) };
}

/**
 * A number as the tensor of a logical scalar.
 * @throws InvalidShapeError for a tensor of more numbers; InvalidArgumentError for a number that its dtype cannot hold.
 */
export function scalarTensor(tensor: LogicalTensor, value: ScalarValue): Tensor {
  const name = `tensor ${describeTensor(tensor)}`;
  const { shape, dtype } = storageDesc(tensor);
  const isWord64 = tensor.dtype === 'i64';
  if (elementCount(shape) !== (isWord64 ? 2 : 1)) {
    throw new InvalidShapeError(name, `cannot be bound to the number ${value}`);
  }
  const rule = brokenScalarRule(tensor.dtype, value);
  if (rule !== null) throw new InvalidArgumentError(name, `must be ${rule}, got ${describeValue(value)}`);
  return Tensor.from(isWord64 ? splitU64(BigInt(value)) : [Number(value)], shape, { dtype });
}

/**
 * Checks a tensor that is bound to a logical one.
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

/** What is known of a tensor by what is bound to it. */
export function knownTensor<T extends TensorDesc>(
  tensor: LogicalTensor,
  bound: Bindable<T> | undefined,
): KnownTensor {
  const host = isScalarValue(bound) ? scalarTensor(tensor, bound) : bound;
  if (!isTensor(host)) return { shape: tensor.shape ?? [] };
  const { shape, strides } = host;
  return tensor.dtype === 'i64' ? { shape: shape.slice(0, -1) } : { shape, strides };
}

export function isTensor(x: unknown): x is TensorDesc {
  return x instanceof Tensor || (typeof x === 'object' && x !== null && 'shape' in x);
}
