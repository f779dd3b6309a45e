/**
 * An integer as files have them: a number, or its digits in a text.
 * @throws Error naming the field.
 */
export function integer(name: string, value: unknown): number {
  const number = numeral(value);
  if (!Number.isSafeInteger(number))
    throw new Error(`${name} must be an integer, got ${JSON.stringify(value)}`);
  return Number(number);
}

/** A text of digits as its number, anything else as it is. */
export function numeral(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
    ? Number(value)
    : value;
}

/**
 * A 64-bit seed or offset, its sign being its highest bit; undefined for what is no integer of so many bits.
 */
export function word64(value: unknown): bigint | undefined {
  const isWord = typeof value === 'string' ? /^[+-]?\d+$/.test(value) : Number.isInteger(value);
  if (!isWord) return undefined;
  const word = BigInt(value as string | number);
  return word >= -(2n ** 63n) && word < 2n ** 64n ? BigInt.asUintN(64, word) : undefined;
}
