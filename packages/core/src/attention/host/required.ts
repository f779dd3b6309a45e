import { InvalidArgumentError } from '../../errors.ts';

/**
 * An operand that the problem names.
 * @throws InvalidArgumentError if it was not given.
 */
export function required<T>(argument: string, operand: T | undefined): T {
  if (operand === undefined)
    throw new InvalidArgumentError(argument, 'must be given, because the problem uses it');
  return operand;
}
