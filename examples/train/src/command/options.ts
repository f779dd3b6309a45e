import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type EngineName, engineNamed, engineNames } from '@tilewise/host-engine';
import { type TrainConfig, trainConfig } from '../config.ts';
import { taskDefaults } from './task-defaults.ts';

/** Options by name; `table` describes each. */
export interface CommandOptions
  extends Partial<Record<'text' | 'load' | 'save' | 'exportTorch' | 'sample', string>>,
    Partial<Record<'steps' | 'seed' | 'length' | 'topK', number>>,
    Readonly<Record<'json' | 'help', boolean>> {
  readonly engine?: EngineName;
  readonly temperature: number;
  /** The given part of the configuration. */
  readonly config: Partial<TrainConfig>;
}

const { recall, text: texts } = taskDefaults;

/** A default in the help: one number, or that of recall and that of texts. */
const byDefault = (ofRecall: number, ofTexts: number): string =>
  ofRecall === ofTexts ? `(default ${ofRecall})` : `(default ${ofRecall}; ${ofTexts} for texts)`;

const configDefault = (name: Exclude<keyof TrainConfig, 'steps'>): string =>
  byDefault(recall.config[name], texts.config[name]);

/** Each option: its value, its name in `CommandOptions` (`.` for the configuration), and its description. */
const table: Readonly<Record<string, readonly [value: string, name: string, meaning: string]>> = {
  engine: ['NAME', 'engine', `${engineNames.join(', ')}; without it, webgpu on a GPU and cpu elsewhere`],
  text: ['FILE', 'text', 'learns the characters of a file; without it, associative recall'],
  steps: ['N', 'steps', `training steps ${byDefault(recall.steps, texts.steps)}`],
  seed: ['N', 'seed', 'chooses the initial weights, the sequences and the dropout (default 0)'],
  layers: ['N', '.layers', `layers of the model ${configDefault('layers')}`],
  heads: ['N', '.heads', `attention heads of a layer ${configDefault('heads')}`],
  dim: ['N', '.dim', `width of the model ${configDefault('dim')}`],
  context: ['N', '.context', `tokens of a sequence ${configDefault('context')}`],
  batch: ['N', '.batch', `sequences of a step ${configDefault('batch')}`],
  lr: ['X', '.learningRate', `largest learning rate ${configDefault('learningRate')}`],
  dropout: ['X', '.dropout', `probability that an attention weight is dropped ${configDefault('dropout')}`],
  save: ['FILE', 'save', 'writes the weights and the state of training, as safetensors'],
  load: ['FILE', 'load', 'starts from such a file; continues training only if --steps is given'],
  'export-torch': ['DIR', 'exportTorch', 'writes a PyTorch package that continues the run'],
  sample: ['TEXT', 'sample', 'continues a text'],
  length: ['N', 'length', `characters to add ${byDefault(recall.length, texts.length)}`],
  temperature: ['X', 'temperature', 'randomness: 0 takes the likeliest character (default 0.8)'],
  'top-k': ['N', 'topK', 'samples only from the N likeliest characters'],
  json: [
    '',
    'json',
    'prints one line of JSON: engine, adapter, steps, lossFirst, lossLast, accuracy, seconds',
  ],
  help: ['', 'help', 'prints this help'],
};

export const usage: string = [
  'Trains a small transformer from scratch, on associative recall or on a text, and shows what it has learned.',
  '\nUsage: pnpm demo [options]\n',
  ...Object.entries(table).map(([name, [value, , does]]) => `  ${`--${name} ${value}`.padEnd(20)}${does}`),
  '',
].join('\n');

/** A command line that is not understood; the message says why. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** The options that are taken from the file of --load. */
const fixed = ['layers', 'heads', 'dim', 'context', 'seed'];

/** Parses command-line arguments. @throws UsageError for unknown options and values. */
export function parseOptions(args: readonly string[]): CommandOptions {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, [value]] of Object.entries(table))
    options[name] ??= { type: value === '' ? 'boolean' : 'string' };
  const read: Record<string, unknown> = { temperature: 0.8, json: false, help: false };
  const config: Record<string, unknown> = {};
  try {
    // `pnpm demo -- --json` passes the two dashes on.
    const { values } = parseArgs({ args: args.slice(args[0] === '--' ? 1 : 0), options });
    for (const [option, given] of Object.entries(values)) {
      if (values.load !== undefined && fixed.includes(option))
        throw new UsageError(`--${option} cannot be given: the file of --load decides it`);
      const [, name] = table[option];
      if (name.startsWith('.')) config[name.slice(1)] = readValue(option, given);
      else read[name] = readValue(option, given);
    }
    trainConfig(config);
  } catch (error) {
    throw error instanceof Error ? new UsageError(error.message) : error;
  }
  return { ...read, config } as unknown as CommandOptions;
}

function readValue(option: string, given: unknown): unknown {
  const [kind] = table[option];
  const text = String(given);
  const least = option === 'seed' ? 0 : 1;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (kind === 'NAME') return engineNamed(text);
  const rules: Readonly<Record<string, readonly [holds: boolean, rule: string]>> = {
    N: [/^\d+$/.test(text) && value >= least && value < 2 ** 53, `a whole number of at least ${least}`],
    X: [Number.isFinite(value) && value >= 0, 'a number of at least 0'],
  };
  const [holds, rule] = rules[kind] ?? [true, ''];
  if (!holds) throw new UsageError(`--${option} must be ${rule}, got '${text}'`);
  return kind in rules ? value : given;
}
