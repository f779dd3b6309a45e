import { InvalidArgumentError } from '@tilewise/core';

/** Everything about a model and its training but the data and the seed. */
export interface TrainConfig {
  readonly layers: number;
  readonly heads: number;
  /** Width of the residual stream; heads divide it. */
  readonly dim: number;
  /** Tokens per sequence. */
  readonly context: number;
  /** Sequences per step. */
  readonly batch: number;
  /** Share of the attention probabilities that is dropped in training. */
  readonly dropout: number;
  /** The largest learning rate; see `learningRateAt`. */
  readonly learningRate: number;
  /** Steps over which the learning rate rises. */
  readonly warmup: number;
  /** After as many steps the learning rate is 0; without it, it stays. */
  readonly steps?: number;
  /** Share of a parameter that decays, per step and unit of learning rate. */
  readonly weightDecay: number;
  /** The largest norm that all gradients together may have; larger ones are scaled down. */
  readonly maxNorm: number;
}

/** Learns associative recall in a few hundred steps with every seed that was tried. */
export const defaultConfig: TrainConfig = {
  layers: 2,
  heads: 4,
  dim: 32,
  context: 24,
  batch: 32,
  dropout: 0.1,
  learningRate: 5e-3,
  warmup: 50,
  weightDecay: 0.01,
  maxNorm: 1,
};

/** The least and the largest value of each whole number. */
const wholeNumbers = {
  layers: [1, 1024],
  heads: [1, 1024],
  dim: [1, 2 ** 16],
  context: [1, 2 ** 20],
  batch: [1, 2 ** 20],
  warmup: [0, 2 ** 53 - 1],
} as const;

/**
 * A configuration with defaults filled in.
 * @throws InvalidArgumentError naming the value and its rule.
 */
export function trainConfig(given: Partial<TrainConfig> = {}): TrainConfig {
  checkFields(given);
  const config = { ...defaultConfig, ...given };
  for (const [name, [least, most]] of Object.entries(wholeNumbers))
    requireWhole(name, config[name as keyof typeof wholeNumbers], least, most);
  if (config.steps !== undefined) requireWhole('steps', config.steps, 1);
  require('dim', config.dim % config.heads === 0, `must be divisible by heads, ${config.heads}`, config.dim);
  require('dropout', config.dropout >= 0 && config.dropout < 1, 'must be in [0, 1)', config.dropout);
  for (const name of ['learningRate', 'maxNorm'] as const) {
    require(name, config[name] > 0 && Number.isFinite(config[name]), 'must be above 0', config[name]);
  }
  const { weightDecay } = config;
  require('weightDecay', weightDecay >= 0 &&
    weightDecay < Infinity, 'must be 0 or more, and finite', weightDecay);
  return config;
}

/** Refuses what is no object of known fields with numbers. */
function checkFields(given: unknown): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidArgumentError('config', 'must be an object');
  }
  for (const [name, value] of Object.entries(given)) {
    if (name !== 'steps' && !Object.hasOwn(defaultConfig, name)) {
      throw new InvalidArgumentError('config', `has no '${name}'`);
    }
    if (typeof value !== 'number' && (name !== 'steps' || value !== undefined)) {
      throw new InvalidArgumentError(name, `must be a number, got ${JSON.stringify(value)}`);
    }
  }
}

/** @throws InvalidArgumentError naming the number when it is not a whole number within the bounds. */
export function requireWhole(name: string, value: number, least: number, most: number = 2 ** 53 - 1): void {
  const holds = Number.isSafeInteger(value) && value >= least && value <= most;
  require(name, holds, `must be a whole number from ${least} to ${most}`, value);
}

function require(name: string, holds: boolean, rule: string, value: number): void {
  if (!holds) throw new InvalidArgumentError(name, `${rule}, got ${value}`);
}
