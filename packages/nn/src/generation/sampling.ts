import { InvalidArgumentError } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { checkFields, type FieldRules } from '../checks/check-fields.ts';
import { anything, fraction, fromZero, integerFrom, numberRule } from '../checks/rules.ts';

/** How a token is chosen from the logits. Without a temperature, it is the most likely one. */
export interface SamplingOptions {
  /** The divisor of logits. Default 0, which chooses the most likely token. */
  readonly temperature?: number | undefined;
  /** Keeps only the k most likely tokens. Default: all. */
  readonly topK?: number | undefined;
  /** Keeps only the most likely tokens whose probabilities sum to p, in (0, 1]. Default: all. */
  readonly topP?: number | undefined;
  /** Keeps only tokens whose probability is at least this fraction of the largest. Default 0. */
  readonly minP?: number | undefined;
  /**
   * For tokens already in the text: the divisor of positive logits and the factor of negative ones. Default
   * 1.
   */
  readonly repetitionPenalty?: number | undefined;
  /** The seed of the random numbers. Default 0. */
  readonly seed?: number | bigint | undefined;
}

export const samplingRules: FieldRules<SamplingOptions> = {
  temperature: fromZero,
  topK: integerFrom(1),
  topP: numberRule('must be in (0, 1]', x => x > 0 && x <= 1),
  minP: fraction,
  repetitionPenalty: numberRule('must be > 0', x => x > 0),
  seed: anything,
};

/**
 * Chooses the next token of a sequence, in the order of transformers: penalty, temperature, top-k, top-p,
 * min-p.
 * @param text the tokens so far.
 * @param draw the row and the step, which select the random number whatever the batch is.
 * @throws InvalidArgumentError for invalid options, and for logits that are NaN or Infinity.
 */
export function chooseToken(
  logits: Float32Array,
  text: Iterable<number>,
  options: SamplingOptions,
  draw: { readonly row: number; readonly step: number },
): number {
  checkFields('options', options, samplingRules);
  return tokenOf(logits, text, options, draw);
}

/** Chooses a token like `chooseToken`, with options that were checked. */
export function tokenOf(
  logits: Float32Array,
  text: Iterable<number>,
  { temperature = 0, topK, topP, minP, repetitionPenalty = 1, seed = 0 }: SamplingOptions,
  draw: { readonly row: number; readonly step: number },
): number {
  const scores = new Float64Array(logits);
  if (!scores.every(score => score < Infinity))
    throw new InvalidArgumentError('logits', 'must have no NaN and no Infinity');
  if (repetitionPenalty !== 1) {
    for (const token of new Set(text))
      scores[token] *= scores[token] > 0 ? 1 / repetitionPenalty : repetitionPenalty;
  }
  if (temperature === 0)
    return scores.reduce((best, score, token) => (score > scores[best] ? token : best), 0);
  const ranked = likeliestFirst(scores);
  const size = Math.min(topK ?? scores.length, scores.length);
  const top = scores[ranked(0)];
  const weightOf = (token: number): number => Math.exp((scores[token] - top) / temperature);
  let left = 0;
  for (let n = 0; n < size; n++) left += weightOf(size < scores.length ? ranked(n) : n);
  let count = size;
  if (topP !== undefined || minP !== undefined) {
    const most = (topP ?? 1) * left;
    left = 0;
    for (count = 0; count < size && (topP === undefined || left < most); count++) {
      const weight = weightOf(ranked(count));
      if (count > 0 && weight < (minP ?? 0)) break;
      left += weight;
    }
  }
  const stream = new PhiloxStream(seed, { subsequence: BigInt(draw.row), offset: BigInt(draw.step) });
  let rest = stream.nextUniform() * left;
  let chosen = 0;
  while (chosen < count - 1) {
    rest -= weightOf(ranked(chosen));
    if (rest <= 0) break;
    chosen++;
  }
  return ranked(chosen);
}

/**
 * The tokens ranked by score: returns the n-th most likely token, and the first one of equally likely tokens.
 * A heap yields them one after the other, so that a large vocabulary is sorted only as far as needed.
 */
function likeliestFirst(scores: Float64Array): (n: number) => number {
  const heap = Int32Array.from(scores.keys());
  const sorted: number[] = [];
  let size = heap.length;
  const isBefore = (a: number, b: number): boolean =>
    scores[a] > scores[b] || (scores[a] === scores[b] && a < b);
  function sink(from: number): void {
    const token = heap[from];
    let at = from;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], token)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = token;
  }
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(at);
  return n => {
    while (sorted.length <= n) {
      sorted.push(heap[0]);
      heap[0] = heap[--size];
      sink(0);
    }
    return sorted[n];
  };
}
