import { describeValue, InvalidArgumentError } from '../errors.ts';
import type { TensorDesc } from './tensor-desc.ts';

/** @throws InvalidArgumentError for a value that is no tensor, such as an array of numbers. */
export function checkTensor(argument: string, t: TensorDesc): void {
  if (!Array.isArray(t?.shape) || !Array.isArray(t.strides))
    throw new InvalidArgumentError(argument, `must be a tensor, got ${describeValue(t)}`);
}
