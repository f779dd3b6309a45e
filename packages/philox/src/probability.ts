import { describeValue, InvalidArgumentError } from './errors.ts';

/**
 * Returns `p` if it is a probability.
 *
 * @throws InvalidArgumentError naming `name` if `p` is not a number in [0, 1].
 */
export function checkProbability(p: number, name: string): number {
  if (typeof p === 'number' && p >= 0 && p <= 1) return p;
  throw new InvalidArgumentError(name, `must be a number in [0, 1], got ${describeValue(p)}`);
}
