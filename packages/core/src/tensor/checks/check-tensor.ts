import { describeValue, InvalidArgumentError } from '../../errors.ts';
import type { TensorDesc } from '../tensor-desc.ts';

const areCounts = (list: unknown): boolean =>
  Array.isArray(list) && list.every(n => Number.isInteger(n) && n >= 0);

/** @throws InvalidArgumentError for a value that is no tensor, such as an array of numbers. */
export function checkTensor(argument: string, t: TensorDesc): void {
  const isTensor =
    areCounts(t?.shape) &&
    areCounts(t.strides) &&
    t.shape.length === t.strides.length &&
    typeof t.dtype === 'string';
  if (!isTensor) throw new InvalidArgumentError(argument, `must be a tensor, got ${describeValue(t)}`);
}
