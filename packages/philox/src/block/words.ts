import { describeValue, InvalidArgumentError } from '../errors.ts';

/**
 * Checks that a counter or a key has as many words as it must, of the type that they must have. Their values
 * are taken modulo their size.
 *
 * @throws InvalidArgumentError naming it.
 */
export function checkWords(
  argument: string,
  words: ArrayLike<unknown>,
  count: number,
  type: 'number' | 'bigint',
): void {
  if (typeof words === 'object' && words !== null && words.length === count) {
    let n = 0;
    while (n < count && typeof words[n] === type) n++;
    if (n === count) return;
  }
  const got = Array.isArray(words) ? `[${words.map(describeValue).join(', ')}]` : describeValue(words);
  throw new InvalidArgumentError(argument, `must be ${count} words (${type}s), got ${got}`);
}
