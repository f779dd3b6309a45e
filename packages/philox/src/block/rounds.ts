import { describeValue, InvalidArgumentError } from '../errors.ts';

/**
 * Returns `rounds` if it is a whole number from `least` to 1024, many times the rounds of any generator that
 * is in use; throws InvalidArgumentError otherwise.
 */
export function checkRounds(rounds: number, least: number = 1): number {
  if (Number.isInteger(rounds) && rounds >= least && rounds <= 1024) return rounds;
  const rule = `must be a whole number from ${least} to 1024, got ${describeValue(rounds)}`;
  throw new InvalidArgumentError('rounds', rule);
}
