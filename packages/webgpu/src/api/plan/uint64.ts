import { InvalidArgumentError, listText, type U64Words } from '@tilewise/core';
import { toU64 } from '@tilewise/philox';

/**
 * An unsigned 64-bit integer: a bigint, a number that is a safe integer, or two 32-bit words, the low word
 * first, as a problem stores its seed.
 */
export type Uint64 = bigint | number | U64Words;

/**
 * The two words of a 64-bit integer, if there is one.
 * @throws InvalidArgumentError if `value` is neither an integer nor two words.
 */
export function wordsOf(argument: string, value: Uint64 | undefined): U64Words | undefined {
  if (typeof value !== 'object') return value === undefined ? value : toU64(value, argument);
  const isWord = (n: unknown): boolean => Number.isInteger(n) && Number(n) >= 0 && Number(n) < 2 ** 32;
  if (Array.isArray(value) && value.length === 2 && value.every(isWord)) return value;
  const rule = `must be an integer, or two in [0, 2^32), low and high, got ${listText(value)}`;
  throw new InvalidArgumentError(argument, rule);
}
