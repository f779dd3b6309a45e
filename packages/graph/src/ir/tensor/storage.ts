import {
  checkObject,
  contiguousStrides,
  describeValue,
  elementCount,
  InvalidArgumentError,
  InvalidShapeError,
  type Shape,
  type Strides,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { toU64 } from '@tilewise/philox';
import { storageDType } from './dtype.ts';
import { describeTensor, isKnown, type LogicalTensor } from './logical-tensor.ts';
import { brokenScalarRule, type ScalarValue } from './scalar.ts';

/** The shape, and optionally the strides, of a tensor at compile time. */
export interface KnownTensor {
  /** The extents. */
  readonly shape: Shape;
  /** In elements. Default: row-major without gaps. */
  readonly strides?: Strides | undefined;
}

/**
 * The description of the engine's tensor for a logical tensor. An i64 tensor is contiguous, with an extra
 * last dimension for the two words.
 * @throws InvalidShapeError when the tensor's shape is not known.
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

/** The shape and strides of a logical tensor, from the engine's tensor that is bound to it. */
export function knownOf({ dtype }: LogicalTensor, { shape, strides }: TensorDesc): KnownTensor {
  return dtype === 'i64' ? { shape: shape.slice(0, -1) } : { shape, strides };
}

/**
 * The tensor that holds a number for a logical scalar.
 * @throws InvalidShapeError if the tensor has more than one element; InvalidArgumentError for a number that
 * its dtype cannot hold.
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
  const words = isWord64 ? toU64(BigInt.asUintN(64, BigInt(value)), name) : [Number(value)];
  return Tensor.from(words, shape, { dtype });
}
