import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Suite } from '../suite.ts';

/** A parsed command line: the suite to run, with its options. */
export interface Command {
  readonly suite: Suite;
  /** The suite's own options, with defaults filled in. */
  readonly options: Readonly<Record<string, string>>;
  readonly filter: string;
  readonly json: boolean;
  /** The maximum number of processes that run cases side by side. */
  readonly jobs: number;
}

/** The command line cannot be understood; the message names the word. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/**
 * Reads the arguments after `conformance`.
 * @throws UsageError for an unknown suite or option, a value that is not among the choices, or a missing
 * option.
 */
export function parseCommand(args: readonly string[], suites: readonly Suite[]): Command {
  const [name, ...rest] = args;
  const suite = suites.find(candidate => candidate.name === name);
  if (!suite) throw new UsageError(name === undefined ? 'Name a suite.' : `There is no suite '${name}'.`);
  const { filter, json, jobs, ...given } = parse(rest, suite);
  const options: Record<string, string> = {};
  for (const [option, { choices, required, number }] of Object.entries(suite.options)) {
    const value = given[option] ?? choices?.[0];
    if (value === undefined) {
      if (required) throw new UsageError(`${suite.name} needs --${option}.`);
      continue;
    }
    if (typeof value !== 'string' || (choices && !choices.includes(value))) {
      throw new UsageError(`--${option} must be one of ${choices?.join(', ')}, got '${value}'.`);
    }
    if (number === 'count') countOf(option, value);
    if (number && !(value.trim() !== '' && Number.isFinite(Number(value)))) {
      throw new UsageError(`--${option} must be a number, got '${value}'.`);
    }
    options[option] = value;
  }
  return {
    ...{ suite, options, filter: typeof filter === 'string' ? filter : '', json: json === true },
    jobs: jobs === undefined ? ownJobs(suite, options) : countOf('jobs', jobs),
  };
}

/**
 * The default number of jobs: the number of processors if cases may run side by side. A GPU is shared, so it
 * gets one.
 */
function ownJobs(suite: Suite, { engine }: Readonly<Record<string, string>>): number {
  return suite.sideBySide && engine !== 'webgpu' ? availableParallelism() : 1;
}

function countOf(option: string, value: string | boolean): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) {
    throw new UsageError(`--${option} must be a whole number of at least 1, got '${value}'.`);
  }
  return count;
}

function parse(args: readonly string[], suite: Suite): Record<string, string | boolean | undefined> {
  const own = Object.keys(suite.options).map(option => [option, { type: 'string' }] as const);
  const shared = {
    filter: { type: 'string' },
    json: { type: 'boolean' },
    jobs: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(own), ...shared } }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The usage text of the program, with the options of these suites. */
export function usage(suites: readonly Suite[]): string {
  const lines = ['Usage: pnpm conformance <suite> [options]', ''];
  for (const { name, summary, options } of suites) {
    lines.push(`  ${name}: ${summary}`);
    for (const [option, { value, meaning, choices, required }] of Object.entries(options)) {
      const values = choices ? choices.join('|') : value;
      const standard = choices ? `default ${choices[0]}` : 'optional';
      lines.push(`    --${option} ${values}  ${meaning}${required ? '' : ` (${standard})`}`);
    }
    lines.push('');
  }
  lines.push('  --filter TEXT  run only the cases whose name contains TEXT');
  lines.push('  --json         one JSON object per case, and the counts in the last line');
  const parallel = suites.filter(({ sideBySide }) => sideBySide).map(({ name }) => name);
  const more =
    parallel.length > 0 ? `, or in ${parallel.join(' and ')} one per processor, except on webgpu` : '';
  lines.push(`  --jobs N       parallel processes; default 1${more}`);
  lines.push(
    '',
    'Exit code: 0, 1 if a case failed, or 2 if the arguments or the data are wrong or no case matches --filter.',
  );
  return lines.join('\n');
}
