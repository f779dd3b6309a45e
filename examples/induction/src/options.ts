import { parseArgs } from 'node:util';
import { type EngineName, engineNames } from './engine-choice.ts';

export interface DemoOptions {
  /** Not given: the best engine of this machine. */
  readonly engine?: EngineName;
  readonly steps: number;
  readonly seed: number;
  readonly json: boolean;
  readonly help: boolean;
}

export const defaultSteps = 400;

export const usage: string = `Trains a small attention model from scratch on associative recall, and shows the induction head that it grows.

Usage: pnpm demo [options]

  --engine NAME   ${engineNames.join(', ')}; without it, webgpu on a GPU and cpu elsewhere
  --steps N       training steps (default ${defaultSteps})
  --seed N        chooses the initial weights, the sequences and the dropout (default 0)
  --json          prints one line of JSON: engine, adapter, steps, lossFirst, lossLast, accuracy, seconds
  --help          prints this
`;

/** A command line that is not understood; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/**
 * Options from command line arguments.
 * @throws UsageError for unknown options and values.
 */
export function parseOptions(args: readonly string[]): DemoOptions {
  // `pnpm demo -- --json` hands the two dashes on.
  const values = parse(args[0] === '--' ? args.slice(1) : args);
  return {
    engine: engineName(values.engine),
    steps: wholeNumber('steps', values.steps, defaultSteps, 1),
    seed: wholeNumber('seed', values.seed, 0, 0),
    json: values.json ?? false,
    help: values.help ?? false,
  };
}

interface RawValues {
  readonly engine?: string;
  readonly steps?: string;
  readonly seed?: string;
  readonly json?: boolean;
  readonly help?: boolean;
}

function parse(args: readonly string[]): RawValues {
  try {
    return parseArgs({
      args: [...args],
      options: {
        engine: { type: 'string' },
        steps: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
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

function wholeNumber(name: string, value: string | undefined, otherwise: number, least: number): number {
  if (value === undefined) return otherwise;
  const n = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(n) || n < least) {
    throw new UsageError(`--${name} must be a whole number of at least ${least}, got '${value}'`);
  }
  return n;
}
