import { parseArgs } from 'node:util';
import { TilewiseError } from '@tilewise/core';
import { type TrainConfig, trainConfig } from '../config.ts';
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
  /** The given part of the configuration. */
  readonly config: Partial<TrainConfig>;
  /** Text to continue, and by how many characters. */
  readonly sample?: string;
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

type Kind = 'text' | 'engine' | 'whole' | 'index' | 'number' | 'flag';
/**
 * Each option on the command line: what it takes, and its name here; those of the configuration are in
 * `config`.
 */
const table: Readonly<Record<string, readonly [kind: Kind, name: string]>> = {
  ...{ engine: ['engine', 'engine'], text: ['text', 'text'], load: ['text', 'load'], save: ['text', 'save'] },
  ...{ 'export-torch': ['text', 'exportTorch'], steps: ['whole', 'steps'], seed: ['index', 'seed'] },
  ...{ layers: ['whole', 'config.layers'], heads: ['whole', 'config.heads'], dim: ['whole', 'config.dim'] },
  ...{ context: ['whole', 'config.context'], batch: ['whole', 'config.batch'] },
  ...{ lr: ['number', 'config.learningRate'], dropout: ['number', 'config.dropout'] },
  ...{ sample: ['text', 'sample'], length: ['whole', 'length'], temperature: ['number', 'temperature'] },
  ...{ 'top-k': ['whole', 'topK'], json: ['flag', 'json'], help: ['flag', 'help'] },
};

/** The options that the file of --load decides. */
const fixed = ['layers', 'heads', 'dim', 'context', 'seed'];

/**
 * Options from command line arguments.
 * @throws UsageError for unknown options and values.
 */
export function parseOptions(args: readonly string[]): CommandOptions {
  // `pnpm demo -- --json` hands the two dashes on.
  const given = parse(args[0] === '--' ? args.slice(1) : args);
  const [options, config]: Record<string, unknown>[] = [{ temperature: 0.8, json: false, help: false }, {}];
  for (const [option, text] of Object.entries(given)) {
    const [kind, name] = table[option];
    if (given.load !== undefined && fixed.includes(option))
      throw new UsageError(`--${option} is what the file of --load says`);
    const [place, key] = name.startsWith('config.') ? [config, name.slice(7)] : [options, name];
    place[key] = readValue(option, kind, text);
  }
  const parsed = { ...options, config } as unknown as CommandOptions;
  if (parsed.temperature < 0)
    throw new UsageError(`--temperature must be 0 or more, got ${parsed.temperature}`);
  try {
    trainConfig(parsed.config);
  } catch (error) {
    throw error instanceof TilewiseError ? new UsageError(error.message) : error;
  }
  return parsed;
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean>> {
  const types = Object.entries(table).map(([name, [kind]]) => {
    const type = kind === 'flag' ? ('boolean' as const) : ('string' as const);
    return [name, { type, ...(name === 'help' && { short: 'h' }) }] as const;
  });
  try {
    return { ...parseArgs({ args: [...args], options: Object.fromEntries(types) }).values } as Record<
      string,
      string | boolean
    >;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readValue(name: string, kind: Kind, given: string | boolean): unknown {
  if (kind === 'flag' || kind === 'text') return given;
  const text = String(given);
  if (kind === 'engine') {
    if (engineNames.some(known => known === text)) return text;
    throw new UsageError(`--engine must be one of ${engineNames.join(', ')}, got '${text}'`);
  }
  const value =
    kind === 'number' ? Number(text.trim() || Number.NaN) : Number(/^\d+$/.test(text) ? text : Number.NaN);
  if (kind === 'number' && Number.isFinite(value)) return value;
  const least = kind === 'index' ? 0 : 1;
  if (kind !== 'number' && Number.isSafeInteger(value) && value >= least) return value;
  const rule = kind === 'number' ? 'a number' : `a whole number of at least ${least}`;
  throw new UsageError(`--${name} must be ${rule}, got '${text}'`);
}
