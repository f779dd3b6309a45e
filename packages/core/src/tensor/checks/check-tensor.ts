import { describeValue, InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { isOverlapping, type Shape, type StridedShape, sameShape } from '../shape.ts';
import { areCounts, type TensorDesc } from '../tensor-desc.ts';

/**
 * Checks that an argument describes a tensor.
 * @param what the values that the argument accepts, in errors.
 * @throws InvalidArgumentError for a value that is not a tensor, such as an array of numbers.
 */
export function checkTensor(argument: string, t: TensorDesc, what = 'a tensor'): void {
  const isTensor =
    areCounts(t?.shape) &&
    areCounts(t.strides) &&
    t.shape.length === t.strides.length &&
    typeof t.dtype === 'string';
  if (!isTensor) throw new InvalidArgumentError(argument, `must be ${what}, got ${describeValue(t)}`);
}

/**
 * Checks that an argument has the expected shape.
 * @throws InvalidShapeError for another.
 */
export function checkShape(argument: string, shape: Shape, expected: Shape): void {
  if (!sameShape(shape, expected))
    throw new InvalidShapeError(argument, `must have shape [${expected}], got [${shape}]`);
}

/**
 * Checks that no element of a result overwrites another.
 * @throws InvalidArgumentError for a layout in which two elements may have the same offset.
 */
export function checkNoOverlap(argument: string, layout: StridedShape): void {
  if (!isOverlapping(layout)) return;
  throw new InvalidArgumentError(
    argument,
    `must not overlap itself in memory, got strides [${layout.strides}]`,
  );
}

/** @throws as `checkTensor` and `checkShape`; InvalidDTypeError for a dtype other than the expected one. */
export function checkTensorOf(
  argument: string,
  t: TensorDesc,
  shape: Shape,
  dtype: TensorDesc['dtype'] | undefined,
): void {
  checkTensor(argument, t);
  checkShape(argument, t.shape, shape);
  if (t.dtype !== dtype) throw new InvalidDTypeError(argument, `must be ${dtype}, got ${t.dtype}`);
}
