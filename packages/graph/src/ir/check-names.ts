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
  const hint = didYouMean(unknown, known) || `; known names: ${known.join(', ')}`;
  throw new InvalidArgumentError(argument, `has no '${unknown}'${hint}`);
}

/** The end of an error about an unknown name: the known name that was probably meant, if there is one. */
export function didYouMean(unknown: string, known: readonly string[]): string {
  const meant = nearestName(unknown, known);
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}
