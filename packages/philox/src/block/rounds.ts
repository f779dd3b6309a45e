import { describeValue, InvalidArgumentError } from '../errors.ts';

/** Returns `rounds` if it is a whole number of at least `least`; throws InvalidArgumentError otherwise. */
export function checkRounds(rounds: number, least: number = 1): number {
  if (Number.isSafeInteger(rounds) && rounds >= least) return rounds;
  const rule = `must be a whole number of at least ${least}, got ${describeValue(rounds)}`;
  throw new InvalidArgumentError('rounds', rule);
}
