import { checkOneOf, describeValue, InvalidArgumentError } from '../../errors.ts';

/**
 * Checks that values are numbers in an array, or in an object that is indexed like one. The elements of a
 * typed array are not all checked.
 * @throws InvalidArgumentError naming the first value that is not a number.
 */
export function checkValues(values: ArrayLike<unknown>): void {
  if (typeof values !== 'object' || values === null || !Number.isSafeInteger(values.length))
    throw new InvalidArgumentError('values', `must be an array of numbers, got ${describeValue(values)}`);
  const looked = ArrayBuffer.isView(values) ? Math.min(1, values.length) : values.length;
  for (let n = 0; n < looked; n++) {
    if (typeof values[n] !== 'number')
      throw new InvalidArgumentError('values', `must be numbers, got ${describeValue(values[n])} at ${n}`);
  }
}

/** @throws InvalidArgumentError for an `overflow` that is neither `ieee` nor `saturate`. */
export function checkOverflow(overflow: unknown): void {
  if (overflow !== undefined) checkOneOf<unknown>('overflow', overflow, ['ieee', 'saturate']);
}
