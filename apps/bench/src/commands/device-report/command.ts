import { parseArgs } from 'node:util';
import { TilewiseError } from '@tilewise/core';
import {
  compareReports,
  type DeviceReport,
  type MeasureSettings,
  parseReport,
  reportJson,
  reportMarkdown,
} from '@tilewise/device-report';
import type { ExaminationEvent } from '@tilewise/device-report/measure';
import { UsageError } from '../../suite/suite.ts';
import { table } from '../../suite/table.ts';
import type { Console } from '../bench/bench.ts';

/** The functions and values that the command uses; tests pass others. */
export interface ReportHost {
  readonly console: Console;
  /** Examines the device of this machine. */
  examine(settings: MeasureSettings, tell: (event: ExaminationEvent) => void): Promise<DeviceReport>;
  /** The text of a file. */
  read(file: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
}

const usage = `Usage: pnpm device-report [options]            examines this machine and prints a report as JSON
       pnpm device-report compare FILE FILE    prints two reports side by side

The playground's doctor writes the same reports, and can compare them too.

  --engine auto|webgpu|cpu          default: auto, a GPU if there is one, otherwise the CPU
  --size auto|small|medium|large    lengths of the sequences, default: auto
  --dtype f32|f16|bf16              default: f32
  --d 32|64|128                     head size, default: 64
  --causal                          with a causal mask
  --markdown                        a report for people instead of JSON
  --output FILE                     writes the report to a file instead of printing it`;

const choices = {
  engine: ['auto', 'webgpu', 'cpu'],
  size: ['auto', 'small', 'medium', 'large'],
  dtype: ['f32', 'f16', 'bf16'],
  d: ['32', '64', '128'],
} as const;

/**
 * Runs the command. Returns the exit code: 0, 1 if attention is wrong on the device, or 2 if the command line
 * is not understood.
 */
export async function deviceReportCommand(args: readonly string[], host: ReportHost): Promise<0 | 1 | 2> {
  const { console, examine } = host;
  try {
    const { values, positionals } = parse(args);
    if (values.help) {
      console.out(usage);
      return 0;
    }
    if (positionals.length > 0) {
      await compare(positionals, host);
      return 0;
    }
    const settings: MeasureSettings = {
      engine: chosen('engine', values.engine),
      size: chosen('size', values.size),
      dtype: chosen('dtype', values.dtype),
      D: Number(chosen('d', values.d)),
      causal: values.causal,
    };
    const report = await examine(settings, event => {
      if (event.kind !== 'progress') return;
      const { stage, done, total } = event;
      console.progress(`${stage}: ${Math.floor((100 * done) / total)} %`);
    });
    console.progress('');
    const text = values.markdown ? reportMarkdown(report) : reportJson(report);
    if (values.output === undefined) console.out(text);
    else await host.write(values.output, `${text}\n`);
    return isRight(report) ? 0 : 1;
  } catch (error) {
    console.progress('');
    if (!(error instanceof UsageError || error instanceof TilewiseError)) throw error;
    console.error(error instanceof UsageError ? `${usage}\n\n${error.message}` : error.message);
    return 2;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        engine: { type: 'string', default: 'auto' },
        size: { type: 'string', default: 'auto' },
        dtype: { type: 'string', default: 'f32' },
        d: { type: 'string', default: '64' },
        causal: { type: 'boolean', default: false },
        markdown: { type: 'boolean', default: false },
        output: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function chosen<N extends keyof typeof choices>(name: N, value: string): (typeof choices)[N][number] {
  const found = choices[name].find(choice => choice === value);
  if (found === undefined)
    throw new UsageError(`--${name} must be one of ${choices[name].join(', ')}, got '${value}'.`);
  return found;
}

async function compare(
  [command, ...files]: readonly string[],
  { console, read }: Pick<ReportHost, 'console' | 'read'>,
): Promise<void> {
  const [a, b] = files;
  if (command !== 'compare' || a === undefined || b === undefined || files.length > 2)
    throw new UsageError("There is one command, 'compare', with two files.");
  const [first, second] = [await reportOf(a, read), await reportOf(b, read)];
  const rows = compareReports(first, second).map(({ name, values, unit, ratio }) => ({
    fact: name,
    first: shown(values[0]),
    second: shown(values[1]),
    unit,
    'second by first': ratio === null ? '' : ratio.toFixed(2),
  }));
  console.out(table(rows));
}

/** @throws TilewiseError naming the file if it cannot be read or is not a report. */
async function reportOf(file: string, read: ReportHost['read']): Promise<DeviceReport> {
  try {
    return parseReport(await read(file));
  } catch (error) {
    throw new TilewiseError('INVALID_ARGUMENT', `${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Measurements with four digits; limits and other whole numbers with all of theirs. */
const shown = (value: number | string | null): string =>
  typeof value === 'number' && !Number.isInteger(value)
    ? `${Number(value.toPrecision(4))}`
    : `${value ?? ''}`;

const isRight = ({ diagnosis, attention }: DeviceReport): boolean =>
  diagnosis.checks.every(({ error, allowed }) => error <= allowed) &&
  (attention?.measurements ?? []).every(({ failure }) => failure !== 'wrong');
