/**
 * Parses an integer: a number, or a string of digits.
 * @throws Error naming the field.
 */
export function integer(name: string, value: unknown): number {
  const number = numeral(value);
  if (!Number.isSafeInteger(number))
    throw new Error(`${name} must be an integer, got ${JSON.stringify(value)}`);
  return Number(number);
}

/** Converts a string of digits to its number, and returns any other value unchanged. */
export function numeral(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
    ? Number(value)
    : value;
}

/**
 * Parses a 64-bit seed or offset, whose sign is its highest bit; undefined for a value that is not a 64-bit
 * integer.
 */
export function word64(value: unknown): bigint | undefined {
  const isWord = typeof value === 'string' ? /^[+-]?\d+$/.test(value) : Number.isInteger(value);
  if (!isWord) return undefined;
  const word = BigInt(value as string | number);
  return word >= -(2n ** 63n) && word < 2n ** 64n ? BigInt.asUintN(64, word) : undefined;
}
