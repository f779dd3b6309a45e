import { InvalidArgumentError } from '@tilewise/core';
import { type CharacterTokenizer, characterTokenizer } from '@tilewise/nn';
import type { PhiloxStream } from '@tilewise/philox';
import { below, permutation } from '../random.ts';
import type { Dataset, Sequences } from './dataset.ts';

/** Tokens 0 ≤ t < KEYS are keys (letters); the others are values (digits). */
export const KEYS = 16;
const VALUES = 10;

/** The vocabulary of associative recall. */
export const recallVocabulary: CharacterTokenizer = characterTokenizer([...'ABCDEFGHIJKLMNOP0123456789']);

/** A repeated key, and the position of its value at the first occurrence. */
export type Question = Readonly<Record<'from' | 'to', number>>;

/** Sequences of the associative recall task, and the questions in each. */
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
 * @throws InvalidArgumentError for a context that has no room for a pair, or for more pairs than there are
 * keys.
 */
export function drawRecall(random: PhiloxStream, count: number, context: number): RecallSequences {
  const pairs = Math.floor(context / 4);
  if (pairs < 1 || pairs > KEYS)
    throw new InvalidArgumentError('context', `must be 4 to ${4 * KEYS + 3} for this task, got ${context}`);
  const drawn = { tokens: [] as number[][], labels: [] as number[][], questions: [] as Question[][] };
  for (let n = 0; n < count; n++) {
    const tokens = new Array<number>(context).fill(0);
    const labels = new Array<number>(context).fill(-100);
    for (const [pair, key] of permutation(random, KEYS).slice(0, pairs).entries())
      tokens.splice(2 * pair, 2, key, KEYS + below(random, VALUES));
    const questions = permutation(random, pairs).map((pair, n): Question => {
      const [from, to] = [2 * (pairs + n), 2 * pair + 1];
      tokens.splice(from, 2, tokens[to - 1], tokens[to]);
      labels[from + 1] = tokens[to];
      return { from, to };
    });
    drawn.tokens.push(tokens);
    drawn.labels.push(labels);
    drawn.questions.push(questions);
  }
  return drawn;
}
