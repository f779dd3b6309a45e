import { InvalidArgumentError } from '@tilewise/core';
import { fillUniform } from '@tilewise/philox';
import { checkFields, type FieldRules } from '../checks/check-fields.ts';
import { aboveZero, anything, fraction, fromZero, integerFrom, numberRule } from '../checks/rules.ts';

/** How a token is chosen from the logits. Without a temperature, it is the most likely one. */
export interface SamplingOptions {
  /** The divisor of logits. Default 0, which chooses the most likely token. */
  readonly temperature?: number | undefined;
  /** Keeps only the k most likely tokens. Default: all. */
  readonly topK?: number | undefined;
  /**
   * Keeps only the smallest set of most likely tokens whose probabilities sum to at least p, in (0, 1].
   * Default: all.
   */
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
  repetitionPenalty: aboveZero,
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
  { temperature = 0, topK = logits.length, topP, minP = 0, repetitionPenalty = 1, seed = 0 }: SamplingOptions,
  draw: { readonly row: number; readonly step: number },
): number {
  const scores = new Float64Array(logits);
  if (repetitionPenalty !== 1) {
    for (const token of new Set(text))
      scores[token] *= scores[token] > 0 ? 1 / repetitionPenalty : repetitionPenalty;
  }
  let best = 0;
  // A callback for each of 262,144 scores would take ten times as long as this loop.
  for (let token = 0; token < scores.length; token++) {
    if (!(scores[token] < Infinity))
      throw new InvalidArgumentError('logits', 'must have no NaN and no Infinity');
    if (scores[token] > scores[best]) best = token;
  }
  if (temperature === 0) return best;
  const top = scores[best];
  const ranked = likeliestFirst(scores, top, temperature);
  const size = Math.min(topK, scores.length);
  const weightOf = (token: number): number => Math.exp((scores[token] - top) / temperature);
  let left = 0;
  for (let n = 0; n < size; n++) left += weightOf(size < scores.length ? ranked(n) : n);
  let count = size;
  if (topP || minP) {
    const most = (topP ?? Infinity) * left;
    left = 0;
    for (count = 0; count < size && left < most; count++) {
      const weight = weightOf(ranked(count));
      if (weight < minP) break;
      left += weight;
    }
  }
  const [uniform] = fillUniform(new Float32Array(1), { seed, subsequence: draw.row, offset: draw.step });
  let rest = uniform * left;
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
 * First the tokens whose scores are at most one temperature below the largest are sorted, then those at most
 * 1.5 temperatures below, and so on: nearly all tokens of a large vocabulary are too unlikely to be
 * requested.
 */
function likeliestFirst(scores: Float64Array, top: number, temperature: number): (n: number) => number {
  const ranked: number[] = [];
  let gap = 1;
  let bound = Infinity;
  return n => {
    while (ranked.length <= n) {
      const above = bound;
      bound = gap < 1e4 ? top - gap * temperature : -Infinity;
      gap *= 1.5;
      const next: number[] = [];
      for (let token = 0; token < scores.length; token++)
        if (scores[token] >= bound && scores[token] < above) next.push(token);
      for (const token of next.sort((a, b) => scores[b] - scores[a])) ranked.push(token);
    }
    return ranked[n];
  };
}
