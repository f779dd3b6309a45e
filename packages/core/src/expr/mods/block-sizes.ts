import { describeValue, InvalidArgumentError } from '../../errors.ts';

/** The numbers of queries and of keys in a block. */
export type BlockSize = readonly [q: number, kv: number];

/**
 * The block size that an option gives.
 * @throws InvalidArgumentError for a value that is neither a number nor a pair.
 */
export function sizesOf(blockSize: number | BlockSize): BlockSize {
  if (typeof blockSize === 'number') return [blockSize, blockSize];
  if (Array.isArray(blockSize) && blockSize.length === 2) return [blockSize[0], blockSize[1]];
  throw new InvalidArgumentError('blockSize', `must be a number or [q, kv], got ${describeValue(blockSize)}`);
}

/**
 * Checks numbers by name.
 * @throws InvalidArgumentError for a number that is not a positive i32, as positions in an expression are.
 */
export function checkCounts(counts: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (Number.isInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 31) continue;
    const rule = `must be a positive integer below 2^31, got ${describeValue(value)}`;
    throw new InvalidArgumentError(name, rule);
  }
}
