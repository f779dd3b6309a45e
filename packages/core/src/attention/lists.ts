import { InvalidArgumentError, InvalidShapeError } from '../errors.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';
import { checkTensor } from './describe.ts';

/**
 * A small list (lengths, slopes, sinks) given as numbers or as a tensor: numbers become a host tensor.
 * @throws InvalidArgumentError for numbers that the dtype does not hold.
 */
export function listOperand<T extends TensorDesc>(
  argument: string,
  value: readonly number[] | T | undefined,
  dtype: 'i32' | 'f32',
): T | Tensor | undefined {
  if (value === undefined) return undefined;
  if (isNumberList(value)) {
    const isValid = dtype === 'i32' ? isI32 : Number.isFinite;
    const at = value.findIndex(x => !isValid(x));
    if (at >= 0) {
      throw new InvalidArgumentError(
        argument,
        `must hold ${dtype === 'i32' ? '32-bit integers' : 'finite numbers'}, got ${value[at]} at ${at}`,
      );
    }
    return Tensor.from(value, [value.length], { dtype });
  }
  checkTensor(argument, value);
  return value;
}

/** False of a bigint too, as a BigInt64Array holds them. */
function isI32(x: number): boolean {
  return Number.isInteger(x) && (x | 0) === x;
}

function isNumberList(value: unknown): value is readonly number[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** @throws InvalidShapeError when the list is not a vector of `length`. */
export function checkList(argument: string, list: TensorDesc | undefined, length: number): void {
  if (list && (list.shape.length !== 1 || list.shape[0] !== length)) {
    throw new InvalidShapeError(argument, `must have shape [${length}], got [${list.shape}]`);
  }
}
