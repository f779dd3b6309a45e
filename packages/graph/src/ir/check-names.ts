import { checkObject, InvalidArgumentError, nearestName } from '@tilewise/core';

/**
 * Checks that an object has only known keys.
 * @param argument the name of the object in errors.
 * @throws InvalidArgumentError naming the unknown key, and the known key that was probably meant.
 */
export function checkNames(argument: string, given: unknown, known: readonly string[]): void {
  checkObject(argument, given);
  const unknown = Object.keys(given as object).find(key => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const hint = meant === undefined ? `; known are ${known.join(', ')}` : `; did you mean '${meant}'?`;
  throw new InvalidArgumentError(argument, `has no '${unknown}'${hint}`);
}
