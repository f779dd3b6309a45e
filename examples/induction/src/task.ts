import type { PhiloxStream } from '@tilewise/philox';

/** Tokens 0 ≤ t < KEYS are keys, written as letters; the other ones are values, written as digits. */
export const KEYS = 16;
export const VALUES = 10;
export const VOCABULARY: number = KEYS + VALUES;

/** How a token is written. */
export function tokenName(token: number): string {
  return token < KEYS ? String.fromCharCode(65 + token) : String(token - KEYS);
}

/**
 * Sequences of the associative recall task, all as long as each other. Each first shows `pairs` different keys, each followed by
 * a value of its own, and then all of them again in another order. Where a key comes again, the next token is its value:
 *
 *     C 4  A 7  B 4  B 4  C 4  A 7
 *                    ^    ^    ^    a question: what follows?
 */
export interface Batch {
  readonly count: number;
  /** Tokens per sequence: 4 · pairs. */
  readonly length: number;
  /** (count, length) */
  readonly tokens: Int32Array;
  /** (count, pairs): where in `tokens` the keys come again. */
  readonly questions: Int32Array;
  /** (count, pairs): the tokens that are right there. */
  readonly answers: Int32Array;
  /** (count, pairs): where in `tokens` the answer stood the first time. */
  readonly sources: Int32Array;
}

/** Fresh sequences; equal streams give equal ones. */
export function createBatch(random: PhiloxStream, count: number, pairs: number): Batch {
  const length = 4 * pairs;
  const tokens = new Int32Array(count * length);
  const questions = new Int32Array(count * pairs);
  const answers = new Int32Array(count * pairs);
  const sources = new Int32Array(count * pairs);
  for (let n = 0; n < count; n++) {
    const start = n * length;
    const keys = permutation(random, KEYS).slice(0, pairs);
    const values = keys.map(() => KEYS + below(random, VALUES));
    keys.forEach((key, p) => {
      tokens[start + 2 * p] = key;
      tokens[start + 2 * p + 1] = values[p];
    });
    permutation(random, pairs).forEach((p, question) => {
      const at = start + 2 * (pairs + question);
      tokens[at] = keys[p];
      tokens[at + 1] = values[p];
      questions[n * pairs + question] = at;
      answers[n * pairs + question] = values[p];
      sources[n * pairs + question] = start + 2 * p + 1;
    });
  }
  return { count, length, tokens, questions, answers, sources };
}

/** An integer in [0, n): the upper word of u32 · n. Its bias, below n / 2^32, does not matter here. */
function below(random: PhiloxStream, n: number): number {
  return Math.floor((random.nextU32() * n) / 2 ** 32);
}

/** The numbers 0 … n − 1 in random order (Fisher and Yates). */
function permutation(random: PhiloxStream, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
