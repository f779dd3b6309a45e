import { InvalidArgumentError } from '@tilewise/core';
import type { PhiloxStream } from '@tilewise/philox';
import type { Batch, Dataset } from './dataset.ts';
import { below, permutation } from './draw.ts';
import { type Vocabulary, vocabularyOf } from './vocabulary.ts';

/** Tokens 0 ≤ t < KEYS are keys, letters; the other ones are values, digits. */
export const KEYS = 16;
export const VALUES = 10;

/** What associative recall is written in. */
export const recallVocabulary: Vocabulary = vocabularyOf([...'ABCDEFGHIJKLMNOP0123456789']);

/** Sequences of the associative recall task, and where to look in them. */
export interface RecallBatch extends Batch {
  /** Key-value pairs per sequence. */
  readonly pairs: number;
  /** Where in `tokens` keys come again: `pairs` per sequence. */
  readonly questions: Int32Array;
  /** Where in `tokens` the answers stood the first time. */
  readonly sources: Int32Array;
}

/**
 * Associative recall. Each sequence first shows different keys, each followed by a value of its own, and then
 * all of them again in another order. Where a key comes again, the next token is its value, and this alone
 * counts:
 *
 *     C 4  A 7  B 4  B 4  C 4  A 7
 *                    ^    ^    ^    a question: what follows?
 *
 * A context of 4 tokens per pair is full; what is left of it counts nothing.
 */
export function recallDataset(): Dataset {
  return {
    task: 'recall',
    description: 'pairs of a letter and a digit, then each letter again: which digit followed it?',
    vocabulary: recallVocabulary,
    hasSequences: true,
    draw: (random, count, context) => drawRecall(random, count, context),
  };
}

/**
 * Sequences with what there is to know about them.
 * @throws InvalidArgumentError for a context that holds no pair, or more than there are keys.
 */
export function drawRecall(random: PhiloxStream, count: number, context: number): RecallBatch {
  const pairs = Math.floor(context / 4);
  if (pairs < 1 || pairs > KEYS) {
    throw new InvalidArgumentError('context', `must be 4 to ${4 * KEYS + 3} for this task, got ${context}`);
  }
  const tokens = new Int32Array(count * context);
  const labels = new Int32Array(count * context);
  const weights = new Float32Array(count * context);
  const questions = new Int32Array(count * pairs);
  const sources = new Int32Array(count * pairs);
  for (let n = 0; n < count; n++) {
    const start = n * context;
    const keys = permutation(random, KEYS).slice(0, pairs);
    const values = keys.map(() => KEYS + below(random, VALUES));
    keys.forEach((key, pair) => {
      tokens.set([key, values[pair]], start + 2 * pair);
    });
    permutation(random, pairs).forEach((pair, question) => {
      const at = start + 2 * (pairs + question);
      tokens.set([keys[pair], values[pair]], at);
      labels[at] = values[pair];
      weights[at] = 1 / (count * pairs);
      questions[n * pairs + question] = at;
      sources[n * pairs + question] = start + 2 * pair + 1;
    });
  }
  return { tokens, labels, weights, pairs, questions, sources };
}
