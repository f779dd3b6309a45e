import { InvalidArgumentError } from '@tilewise/core';
import type { LabelledBatch } from '@tilewise/nn';

/**
 * Parts of a text as batches of one sequence, from beginning to end, repeated. The last part overlaps the one
 * before it if the rest of the text is shorter, so that all parts have one shape and every token is trained.
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
    for (let next = 0; next < tokens.length; next += length) {
      const start = Math.min(next, tokens.length - length);
      const rows = [tokens.slice(start, start + length)];
      yield { inputs: { tokens: rows }, labels: rows };
    }
  }
}
