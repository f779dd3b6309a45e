import { parseArgs } from 'node:util';
import { TilewiseError } from '@tilewise/core';
import { type TrainConfig, trainConfig } from '../config.ts';
import { checkSampling } from '../prediction/choose-token.ts';
import { type EngineName, engineNames } from './engine-choice.ts';

export interface CommandOptions {
  /** Not given: the best engine of this machine. */
  readonly engine?: EngineName;
  /** File to learn; without it, associative recall. */
  readonly text?: string;
  /** File of weights to begin with, and to end with. */
  readonly load?: string;
  readonly save?: string;
  /** Folder of a package of PyTorch that goes on with the run. */
  readonly exportTorch?: string;
  /** Not given: the task's own number; none with `load`. */
  readonly steps?: number;
  readonly seed?: number;
  /** What was given of the configuration. */
  readonly config: Partial<TrainConfig>;
  /** Text to continue. */
  readonly sample?: string;
  /** Characters to add to it. */
  readonly length?: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly json: boolean;
  readonly help: boolean;
}

export const usage: string = `Trains a small transformer from scratch, on associative recall or on a text, and shows what it has learned.

Usage: pnpm demo [options]

  --engine NAME     ${engineNames.join(', ')}; without it, webgpu on a GPU and cpu elsewhere
  --text FILE       learns the characters of a file; without it, associative recall
  --steps N         training steps
  --seed N          chooses the initial weights, the sequences and the dropout (default 0)

  --layers N  --heads N  --dim N      the model: layers, attention heads, width
  --context N  --batch N              tokens of a sequence, sequences of a step
  --lr X  --dropout X                 learning rate, share of the attention that is dropped

  --save FILE       writes weights, and all that training goes on from, as safetensors
  --load FILE       begins with such a file; trains on only if --steps says so
  --export-torch DIR  writes a package of PyTorch that goes on with the run, on one process or many
  --sample TEXT     continues a text
  --length N        by as many characters
  --temperature X   how freely: 0 takes the likeliest character (default 0.8)
  --top-k N         from as many of the likeliest ones

  --json            prints one line of JSON: engine, adapter, steps, lossFirst, lossLast, accuracy, seconds
  --help            prints this
`;

/** A command line that is not understood; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

const strings = ['engine', 'text', 'load', 'save', 'export-torch', 'sample'] as const;
/** Whole numbers and the least that each may be. */
const wholeNumbers = {
  steps: 1,
  seed: 0,
  layers: 1,
  heads: 1,
  dim: 1,
  context: 1,
  batch: 1,
  length: 1,
  'top-k': 1,
};
const numbers = ['lr', 'dropout', 'temperature'] as const;

/**
 * Options from command line arguments.
 * @throws UsageError for unknown options and values.
 */
export function parseOptions(args: readonly string[]): CommandOptions {
  // `pnpm demo -- --json` hands the two dashes on.
  const given = parse(args[0] === '--' ? args.slice(1) : args);
  const text = (name: string): string | undefined => {
    const value = given[name];
    return typeof value === 'string' ? value : undefined;
  };
  const whole = (name: keyof typeof wholeNumbers): number | undefined => wholeNumber(name, text(name));
  const real = (name: (typeof numbers)[number]): number | undefined => realNumber(name, text(name));
  const config = withoutUndefined({
    layers: whole('layers'),
    heads: whole('heads'),
    dim: whole('dim'),
    context: whole('context'),
    batch: whole('batch'),
    learningRate: real('lr'),
    dropout: real('dropout'),
  });
  const options = {
    engine: engineName(text('engine')),
    text: text('text'),
    load: text('load'),
    save: text('save'),
    exportTorch: text('export-torch'),
    steps: whole('steps'),
    seed: whole('seed'),
    config,
    sample: text('sample'),
    length: whole('length'),
    temperature: real('temperature') ?? 0.8,
    topK: whole('top-k'),
    json: given.json === true,
    help: given.help === true,
  };
  check(options);
  return withoutUndefined(options) as CommandOptions;
}

/** What makes no sense together, or never. */
function check({ load, config, ...sampling }: CommandOptions): void {
  const fixed = (['layers', 'heads', 'dim', 'context'] as const).find(name => config[name] !== undefined);
  if (load !== undefined && fixed) throw new UsageError(`--${fixed} is what the file of --load says`);
  if (load !== undefined && sampling.seed !== undefined)
    throw new UsageError('--seed is what the file of --load says');
  try {
    trainConfig(config);
    checkSampling(sampling);
  } catch (error) {
    throw error instanceof TilewiseError ? new UsageError(error.message) : error;
  }
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const valued = [...strings, ...Object.keys(wholeNumbers), ...numbers];
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(valued.map(name => [name, { type: 'string' } as const])),
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values as Record<string, string | boolean | undefined>;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function engineName(value: string | undefined): EngineName | undefined {
  const found = engineNames.find(name => name === value);
  if (found === undefined && value !== undefined) {
    throw new UsageError(`--engine must be one of ${engineNames.join(', ')}, got '${value}'`);
  }
  return found;
}

function wholeNumber(name: keyof typeof wholeNumbers, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const least = wholeNumbers[name];
  const n = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(n) || n < least) {
    throw new UsageError(`--${name} must be a whole number of at least ${least}, got '${value}'`);
  }
  return n;
}

function realNumber(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const x = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(x)) throw new UsageError(`--${name} must be a number, got '${value}'`);
  return x;
}

function withoutUndefined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
