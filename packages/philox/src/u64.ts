import { describeValue, InvalidArgumentError } from './errors.ts';

/** An unsigned 64-bit integer as two unsigned 32-bit words. */
export type U64 = readonly [lo: number, hi: number];

/** An unsigned integer as the API accepts it: a bigint, or a number that is a safe integer. */
export type Uint = bigint | number;

/**
 * Returns `value` as a bigint in [0, 2^bits).
 *
 * @throws InvalidArgumentError naming `name` if `value` is negative, fractional, too large, a number that is
 * not a safe integer, or not a number at all.
 */
export function toUint(value: Uint, name: string, bits: number): bigint {
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value) : -1n;
  if (exact < 0n || exact >> BigInt(bits) !== 0n) {
    const rule = `must be a bigint or a safe integer in [0, 2^${bits}), got ${describeValue(value)}`;
    throw new InvalidArgumentError(name, rule);
  }
  return exact;
}

/**
 * An unsigned 64-bit integer as two 32-bit words.
 *
 * @throws InvalidArgumentError naming `name` for any other value, as `toUint`.
 */
export function toU64(value: Uint, name: string): U64 {
  return lowWords(toUint(value, name, 64));
}

/** `splitU64` of a value that is known to be a bigint. */
export function lowWords(value: bigint): U64 {
  return [Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n))];
}

/**
 * The low 64 bits of an integer as two 32-bit words; those of a negative integer in two's complement.
 *
 * @throws InvalidArgumentError for a value that is neither a bigint nor a safe integer.
 */
export function splitU64(value: bigint | number): U64 {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return lowWords(BigInt(value));
  throw new InvalidArgumentError('value', `must be a bigint or a safe integer, got ${describeValue(value)}`);
}

/**
 * The bigint that two 32-bit words represent.
 *
 * @throws InvalidArgumentError unless there are two unsigned 32-bit words.
 */
export function joinU64(words: U64): bigint {
  return (toUint(words?.[1], 'words', 32) << 32n) | toUint(words?.[0], 'words', 32);
}
