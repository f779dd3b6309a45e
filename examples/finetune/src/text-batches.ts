import { InvalidArgumentError } from '@tilewise/core';
import type { LabelledBatch } from '@tilewise/nn';

/**
 * Parts of a text as batches of one sequence, from beginning to end, repeated.
 * @param context the most tokens of a sequence.
 * @throws InvalidArgumentError for a text or a context of fewer than two tokens.
 */
export function* textBatches(tokens: readonly number[], context: number): Generator<LabelledBatch, never> {
  if (!Number.isSafeInteger(context) || context < 2)
    throw new InvalidArgumentError('context', `must be an integer ≥ 2, got ${context}`);
  if (tokens.length < 2)
    throw new InvalidArgumentError('text', `must have two tokens or more, got ${tokens.length}`);
  const length = Math.min(context, tokens.length);
  for (;;) {
    for (let start = 0; start + length <= tokens.length; start += length) {
      const rows = [tokens.slice(start, start + length)];
      yield { inputs: { tokens: rows }, labels: rows };
    }
  }
}
