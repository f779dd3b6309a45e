import { describeValue, InvalidArgumentError } from '../errors.ts';

/**
 * Checks that a counter or a key has the right number of words, of the right type. The values are not
 * checked: callers take them modulo the word size.
 *
 * @throws InvalidArgumentError naming the counter or the key.
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
