import { InvalidArgumentError } from '@tilewise/core';
import type { PhiloxStream } from '@tilewise/philox';
import { below, permutation } from '../random.ts';
import type { Dataset, Sequences } from './dataset.ts';
import { type Vocabulary, vocabularyOf } from './vocabulary.ts';

/** Tokens 0 ≤ t < KEYS are keys, letters; the other ones are values, digits. */
export const KEYS = 16;
export const VALUES = 10;

/** The vocabulary of associative recall. */
export const recallVocabulary: Vocabulary = vocabularyOf([...'ABCDEFGHIJKLMNOP0123456789']);

/** A key that comes again, and where its value stood the first time. */
export interface Question {
  readonly from: number;
  readonly to: number;
}

/** Sequences of the associative recall task, and what is asked in each. */
export interface RecallSequences extends Sequences {
  readonly questions: readonly Question[][];
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
  const description = 'pairs of a letter and a digit, then each letter again: which digit followed it?';
  return { task: 'recall', description, vocabulary: recallVocabulary, hasSequences: true, draw: drawRecall };
}

/**
 * Sequences with what there is to know about them.
 * @throws InvalidArgumentError for a context that holds no pair, or more than there are keys.
 */
export function drawRecall(random: PhiloxStream, count: number, context: number): RecallSequences {
  const pairs = Math.floor(context / 4);
  if (pairs < 1 || pairs > KEYS)
    throw new InvalidArgumentError('context', `must be 4 to ${4 * KEYS + 3} for this task, got ${context}`);
  const rows = Array.from({ length: count }, () => {
    const tokens = new Array<number>(context).fill(0);
    const labels = new Array<number>(context).fill(-100);
    const keys = permutation(random, KEYS).slice(0, pairs);
    keys.forEach((key, pair) => {
      tokens.splice(2 * pair, 2, key, KEYS + below(random, VALUES));
    });
    const questions = permutation(random, pairs).map((pair, n): Question => {
      const [from, to] = [2 * (pairs + n), 2 * pair + 1];
      tokens.splice(from, 2, keys[pair], tokens[to]);
      labels[from + 1] = tokens[to];
      return { from, to };
    });
    return { tokens, labels, questions };
  });
  return {
    tokens: rows.map(({ tokens }) => tokens),
    labels: rows.map(({ labels }) => labels),
    questions: rows.map(({ questions }) => questions),
  };
}
