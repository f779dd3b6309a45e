import { InvalidArgumentError } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';

/** How a token is chosen from its logits. Without a temperature it is the likeliest. */
export interface SamplingOptions {
  /** The divisor of logits; 0: the likeliest token. */
  readonly temperature?: number | undefined;
  /** Only the k likeliest tokens. */
  readonly topK?: number | undefined;
  /** Only the likeliest tokens whose probabilities sum up to p. */
  readonly topP?: number | undefined;
  /** Only tokens that are at least this share as likely as the likeliest. */
  readonly minP?: number | undefined;
  /** The divisor of positive logits, and the factor of negative ones, of tokens that are in the text. */
  readonly repetitionPenalty?: number | undefined;
  readonly seed?: number | bigint | undefined;
}

/** Checks options of sampling. @throws InvalidArgumentError naming the option. */
export function checkSampling(options: SamplingOptions): void {
  const rules: Readonly<Record<string, readonly [rule: string, holds: (x: number) => boolean]>> = {
    temperature: ['must be ≥ 0', x => x >= 0],
    topK: ['must be an integer ≥ 1', x => Number.isInteger(x) && x >= 1],
    topP: ['must be in (0, 1]', x => x > 0 && x <= 1],
    minP: ['must be in [0, 1]', x => x >= 0 && x <= 1],
    repetitionPenalty: ['must be > 0', x => x > 0],
  };
  for (const [name, [rule, holds]] of Object.entries(rules)) {
    const value = options[name as keyof SamplingOptions];
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && holds(value)))
      throw new InvalidArgumentError(name, `${rule}, got ${value}`);
  }
}

/**
 * Chooses the next token of a sequence, in the order of transformers: penalty, temperature, top-k, top-p,
 * min-p.
 * @param text the tokens so far.
 * @param draw which number of the stream decides: a row and a step have one of their own, whatever the batch.
 */
export function chooseToken(
  logits: Float32Array,
  text: Iterable<number>,
  { temperature = 0, topK, topP, minP, repetitionPenalty = 1, seed = 0 }: SamplingOptions,
  draw: { readonly row: number; readonly step: number },
): number {
  const scores = Float64Array.from(logits);
  if (repetitionPenalty !== 1) {
    for (const token of new Set(text))
      scores[token] *= scores[token] > 0 ? 1 / repetitionPenalty : repetitionPenalty;
  }
  if (temperature === 0)
    return scores.reduce((best, score, token) => (score > scores[best] ? token : best), 0);
  // The likeliest first; of equal ones the first.
  const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b);
  const kept = order.slice(0, topK ?? order.length);
  const top = scores[kept[0]];
  const weights = kept.map(token => Math.exp((scores[token] - top) / temperature));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let count = kept.length;
  if (topP !== undefined) {
    let covered = 0;
    count = weights.findIndex(weight => {
      covered += weight / sum;
      return covered >= topP;
    });
    count = count < 0 ? kept.length : count + 1;
  }
  if (minP !== undefined) {
    const first = weights.findIndex(weight => weight < minP);
    count = Math.max(1, Math.min(count, first < 0 ? count : first));
  }
  const left = weights.slice(0, count).reduce((total, weight) => total + weight, 0);
  const stream = new PhiloxStream(seed, { subsequence: BigInt(draw.row), offset: BigInt(draw.step) });
  let rest = stream.nextUniform() * left;
  const chosen = weights.slice(0, count).findIndex(weight => {
    rest -= weight;
    return rest <= 0;
  });
  return kept[chosen < 0 ? count - 1 : chosen];
}
