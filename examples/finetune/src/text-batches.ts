import { InvalidArgumentError } from '@tilewise/core';
import type { LabelledBatch } from '@tilewise/nn';

/**
 * Parts of a text as batches of one sequence, from beginning to end, repeated.
 * @throws InvalidArgumentError for a text of fewer than two tokens.
 */
export function* textBatches(tokens: readonly number[], context: number): Generator<LabelledBatch, never> {
  const length = Math.min(context, tokens.length);
  if (length < 2)
    throw new InvalidArgumentError('text', `must have two tokens or more, got ${tokens.length}`);
  for (;;) {
    for (let start = 0; start + length <= tokens.length; start += length) {
      const rows = [tokens.slice(start, start + length)];
      yield { inputs: { tokens: rows }, labels: rows };
    }
  }
}
