import { describeValue, InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { type DType, dtypeTraits, isDType } from './dtype/dtype-traits.ts';
import {
  contiguousStrides,
  elementCount,
  elementsSpanned,
  maxOffset,
  type Shape,
  type Strides,
} from './shape.ts';

/** Shape, dtype and memory layout of a tensor, without its data. Strides and offset are in elements. */
export interface TensorDesc {
  /** How elements are stored. */
  readonly dtype: DType;
  /** The extent of each dimension. */
  readonly shape: Shape;
  /** Elements from one index to the next, for each dimension; 0 if the dimension is broadcast. */
  readonly strides: Strides;
}

/** A description whose strides may be omitted; the default is strides without gaps. */
export interface PartialDesc extends Pick<TensorDesc, 'dtype' | 'shape'> {
  /** In elements. Default: row-major without gaps. */
  readonly strides?: Strides | undefined;
}

/** The maximum number of dimensions of a tensor, as in NumPy. */
const MAX_RANK = 64;

/**
 * A checked description. Its strides default to those without gaps.
 * @throws InvalidDTypeError for an unknown dtype; InvalidShapeError for extents or strides that are not
 * non-negative integers, for more than 64 dimensions, and if the element count or the largest offset is too
 * large for an f64 to count.
 */
export function checkDesc({ dtype, shape, strides }: PartialDesc): TensorDesc {
  if (!isDType(dtype)) {
    const known = Object.keys(dtypeTraits).join(', ');
    throw new InvalidDTypeError('dtype', `must be one of ${known}, got ${describeValue(dtype)}`);
  }
  if (!areCounts(shape)) {
    const rule = `must be a list of at most ${MAX_RANK} non-negative integers, got ${listText(shape)}`;
    throw new InvalidShapeError('shape', rule);
  }
  if (!Number.isSafeInteger(elementCount(shape))) {
    throw new InvalidShapeError('shape', `must have fewer than 2^53 elements, got [${shape}]`);
  }
  if (strides === undefined) return { dtype, shape, strides: contiguousStrides(shape) };
  if (!areCounts(strides) || strides.length !== shape.length) {
    const rule = `must be ${shape.length} non-negative integers, got ${listText(strides)}`;
    throw new InvalidShapeError('strides', rule);
  }
  if (!shape.includes(0) && !Number.isSafeInteger(maxOffset(shape, strides))) {
    throw new InvalidShapeError('strides', `must end before element 2^53, got [${strides}] for [${shape}]`);
  }
  return { dtype, shape, strides };
}

/** A copy of a description, which does not change with the caller's arrays. */
export function copiedDesc({ dtype, shape, strides }: TensorDesc): TensorDesc {
  return { dtype, shape: [...shape], strides: [...strides] };
}

/** Bytes from the first element of a tensor to the end of the last, gaps included. */
export function bytesSpanned(desc: TensorDesc): number {
  return elementsSpanned(desc) * dtypeTraits[desc.dtype].bytes;
}

/** Whether a value is a list of at most `MAX_RANK` non-negative safe integers, as shapes and strides are. */
export function areCounts(list: unknown): boolean {
  if (!isList(list) || list.length > MAX_RANK) return false;
  // Every tensor comes through here, so it allocates nothing.
  for (let d = 0; d < list.length; d++) {
    const n = list[d];
    if (!Number.isSafeInteger(n) || Number(n) < 0) return false;
  }
  return true;
}

/** Whether a value is an array or a typed array. */
export function isList(list: unknown): list is ArrayLike<unknown> {
  return Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
}

/** A value that should be a list of numbers, as errors show it. */
export function listText(list: unknown): string {
  if (!isList(list)) return describeValue(list);
  if (list.length > MAX_RANK) return `${list.length} of them`;
  return `[${Array.from(list, describeValue)}]`;
}
