import { InvalidArgumentError } from '@tilewise/core';

/** How a token is chosen from its logits. */
export interface SamplingOptions {
  /** Logits are divided by it: below 1 the likely ones become likelier; 0 always takes the likeliest. */
  readonly temperature: number;
  /** Only as many of the likeliest tokens are considered; without it, all are. */
  readonly topK?: number;
}

/**
 * Checks sampling options.
 * @throws InvalidArgumentError naming the option and its rule.
 */
export function checkSampling({ temperature, topK }: SamplingOptions): void {
  if (!(temperature >= 0 && Number.isFinite(temperature))) {
    throw new InvalidArgumentError('temperature', `must be 0 or more, got ${temperature}`);
  }
  if (topK !== undefined && (!Number.isSafeInteger(topK) || topK < 1)) {
    throw new InvalidArgumentError('topK', `must be a whole number of at least 1, got ${topK}`);
  }
}

/**
 * A token by its logits.
 * @param u uniform in [0, 1): the same number chooses the same token. Of tokens that are as likely, the first
 * counts as likelier.
 */
export function chooseToken(
  logits: ArrayLike<number>,
  { temperature, topK = logits.length }: SamplingOptions,
  u: number,
): number {
  const order = Array.from(logits, (logit, token) => ({ logit, token })).sort(
    (a, b) => b.logit - a.logit || a.token - b.token,
  );
  const [best] = order;
  if (temperature === 0) return best.token;
  const considered = order.slice(0, topK);
  const weights = considered.map(({ logit }) => Math.exp((logit - best.logit) / temperature));
  let left = u * weights.reduce((sum, weight) => sum + weight, 0);
  const chosen = considered.find((_, n) => {
    left -= weights[n];
    return left < 0;
  });
  return (chosen ?? considered[considered.length - 1]).token;
}
