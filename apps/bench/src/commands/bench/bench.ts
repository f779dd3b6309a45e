import { parseArgs } from 'node:util';
import {
  type Suite,
  type SuiteOption,
  type SuiteOptions,
  UsageError,
  WrongResult,
} from '../../suite/suite.ts';
import { type Row, table } from '../../suite/table.ts';

/** Where a run writes: results, progress (shown for a while), and errors. */
export interface Console {
  out(line: string): void;
  progress(text: string): void;
  error(line: string): void;
}

/**
 * The whole program: runs one suite with its options, or all suites. Returns the exit code: 0, 1 if a result
 * is wrong, or 2 if the command line is.
 */
export async function bench(
  args: readonly string[],
  suites: readonly Suite[],
  console: Console,
): Promise<0 | 1 | 2> {
  const named = suites.filter(({ name }) => name === args[0]);
  if (args.includes('--help')) {
    console.out(usage(named.length > 0 ? named : suites));
    return 0;
  }
  try {
    const { chosen, options, json } = parse(args, suites);
    for (const suite of chosen) {
      const rows: Row[] = [];
      const progress = (text: string): void => console.progress(text && `${suite.name}: ${text}`);
      for await (const row of await suite.run(options, progress)) {
        rows.push(row);
        if (json) console.out(JSON.stringify({ suite: suite.name, ...row }));
      }
      console.progress('');
      if (!json) console.out(`${wrapped(`${suite.name}: ${suite.summary}`)}\n\n${table(rows)}\n`);
    }
    return 0;
  } catch (error) {
    console.progress('');
    if (error instanceof UsageError) {
      console.error(`${usage(named.length > 0 ? named : suites)}\n\n${error.message}`);
      return 2;
    }
    if (!(error instanceof WrongResult)) throw error;
    console.error(error.message);
    return 1;
  }
}

function parse(
  args: readonly string[],
  suites: readonly Suite[],
): { readonly chosen: readonly Suite[]; readonly options: SuiteOptions; readonly json: boolean } {
  const named = args[0] !== undefined && !args[0].startsWith('-');
  const suite = suites.find(({ name }) => name === args[0]);
  if (named && !suite) throw new UsageError(`There is no suite '${args[0]}'.`);
  const own = Object.entries(suite?.options ?? {}).map(
    ([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const,
  );
  try {
    const spec = { ...Object.fromEntries(own), json: { type: 'boolean' } } as const;
    const { json, ...options } = parseArgs({ args: args.slice(named ? 1 : 0), options: spec }).values;
    return { chosen: suite ? [suite] : suites, options, json: json === true };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * The usage text of the program, with the options of these suites. An option that several suites share is
 * described once, at the end.
 */
export function usage(suites: readonly Suite[]): string {
  const all = suites.flatMap(({ options }) => Object.values(options));
  const isShared = (option: SuiteOption): boolean => all.indexOf(option) !== all.lastIndexOf(option);
  const shared: Record<string, SuiteOption> = {};
  const lines = ['Usage: pnpm bench [suite] [options]', '', 'Without a suite, a quick tour of all.', ''];
  for (const { name, summary, options } of suites) {
    lines.push(`  ${name}: ${summary}`);
    for (const [key, option] of Object.entries(options)) {
      if (isShared(option)) shared[key] = option;
      else lines.push(optionLine(key, option));
    }
    const keys = Object.keys(options).filter(key => isShared(options[key]));
    if (keys.length > 0) lines.push(`    ${keys.map(key => `--${key}`).join(', ')}  see below`);
  }
  const described = Object.entries(shared).map(([key, option]) => optionLine(key, option));
  if (described.length > 0) lines.push('', '  Options of several suites:', ...described);
  lines.push('', '  --json  one JSON object per row');
  return lines.map(wrapped).join('\n');
}

/** A line of at most 104 columns, or several, indented by 6 after the first. */
function wrapped(line: string): string {
  return line.replace(/(.{1,104})(?: +|$)/g, '$1\n      ').trimEnd();
}

function optionLine(key: string, { value, meaning }: SuiteOption): string {
  return `    --${key}${value === undefined ? '' : ` ${value}`}  ${meaning}`;
}
