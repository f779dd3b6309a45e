import { InvalidArgumentError } from '@tilewise/core';

type Rule = readonly [holds: (x: number) => boolean, rule: string];
const whole = (least: number, most: number): Rule => [
  x => Number.isSafeInteger(x) && x >= least && x <= most,
  `must be a whole number from ${least} to ${most}`,
];
const positive: Rule = [x => x > 0 && x < Infinity, 'must be above 0'];
const share: Rule = [x => x >= 0 && x < 1, 'must be in [0, 1)'];
const notNegative: Rule = [x => x >= 0 && x < Infinity, 'must be 0 or more, and finite'];

/** The rules of a configuration: all numbers of a model and its training except the seed. */
const rules: Readonly<Record<keyof TrainConfig, Rule>> = {
  ...{ layers: whole(1, 1024), heads: whole(1, 1024) },
  /** The width of the residual stream, a multiple of the heads. */
  dim: whole(1, 2 ** 16),
  /** Tokens per sequence, and sequences per step. */
  ...{ context: whole(1, 2 ** 20), batch: whole(1, 2 ** 20) },
  /** The share of attention probabilities dropped in training. */
  dropout: share,
  /** The learning rate, and the number of steps over which it rises. */
  ...{ learningRate: positive, warmup: whole(0, 2 ** 53 - 1) },
  /** AdamW's weight decay, and the largest norm of all gradients together. */
  ...{ weightDecay: notNegative, maxNorm: positive },
  /** The number of steps after which the learning rate is 0; without it, the rate stays constant. */
  steps: whole(1, 2 ** 53 - 1),
};

/** A configuration; `rules` describes its numbers. */
export interface TrainConfig
  extends Readonly<Record<'layers' | 'heads' | 'dim' | 'context' | 'batch' | 'dropout', number>>,
    Readonly<Record<'learningRate' | 'warmup' | 'weightDecay' | 'maxNorm', number>> {
  readonly steps?: number;
}

/** This configuration learns associative recall in a few hundred steps with every seed that was tried. */
export const defaultConfig: TrainConfig = {
  ...{ layers: 2, heads: 4, dim: 32, context: 24, batch: 32, dropout: 0.1 },
  ...{ learningRate: 5e-3, warmup: 50, weightDecay: 0.01, maxNorm: 1 },
};

/** A configuration with defaults filled in. @throws InvalidArgumentError naming the value and its rule. */
export function trainConfig(given: Partial<TrainConfig> = {}): TrainConfig {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new InvalidArgumentError('config', 'must be an object');
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of known) {
    if (!Object.hasOwn(rules, name)) throw new InvalidArgumentError('config', `has no '${name}'`);
    const [holds, rule] =
      typeof value === 'number' ? rules[name as keyof TrainConfig] : [() => false, 'must be a number'];
    if (!holds(value)) throw new InvalidArgumentError(name, `${rule}, got ${JSON.stringify(value)}`);
  }
  const config: TrainConfig = { ...defaultConfig, ...Object.fromEntries(known) };
  if (config.dim % config.heads === 0) return config;
  throw new InvalidArgumentError('dim', `must be divisible by heads, ${config.heads}, got ${config.dim}`);
}
