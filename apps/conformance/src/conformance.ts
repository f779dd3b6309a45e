import { parseCommand, UsageError, usage } from './command-line.ts';
import { jsonReport, type ReportSink, textReport } from './report.ts';
import { runCases } from './run-cases.ts';
import { SetupError, type Suite } from './suite.ts';

/** Where a run writes: the report, and what is wrong with the call. */
export interface Console extends ReportSink {
  error(line: string): void;
}

/**
 * The whole program: runs what the arguments ask for and returns the exit code: 0, 1 when a case failed, or 2 when the call is
 * wrong or its data is missing.
 */
export async function conformance(
  args: readonly string[],
  suites: readonly Suite[],
  console: Console,
): Promise<0 | 1 | 2> {
  if (args[0] === '--help' || args[0] === '-h') {
    console.out(usage(suites));
    return 0;
  }
  try {
    const { suite, options, filter, json } = parseCommand(args, suites);
    const report = json ? jsonReport(console) : textReport(console);
    const { cases, close } = await suite.open(options);
    try {
      const counts = await runCases(cases, filter, report);
      report.counted(counts);
      return counts.fail > 0 ? 1 : 0;
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${usage(suites)}`);
    else if (error instanceof SetupError) console.error(error.message);
    else throw error;
    return 2;
  }
}
