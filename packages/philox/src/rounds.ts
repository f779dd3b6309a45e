import { describeValue, InvalidArgumentError } from './errors.ts';

/** `rounds` if it is a whole number of at least 1; throws InvalidArgumentError otherwise. */
export function checkRounds(rounds: number): number {
  if (Number.isSafeInteger(rounds) && rounds >= 1) return rounds;
  throw new InvalidArgumentError(
    'rounds',
    `must be a whole number of at least 1, got ${describeValue(rounds)}`,
  );
}
