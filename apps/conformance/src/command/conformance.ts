import { type CaseProcess, caseProcess } from '../cases/case-process.ts';
import { countOfRun, here, runCases } from '../cases/run-cases.ts';
import { type OpenSuite, SetupError, type Suite } from '../suite.ts';
import { type Command, parseCommand, UsageError, usage } from './command-line.ts';
import { jsonReport, type ReportSink, textReport } from './report.ts';

/** Where a run writes: the report, and errors of the call. */
export interface Console extends ReportSink {
  error(line: string): void;
}

/**
 * The whole program: runs what the arguments ask for and returns the exit code: 0, 1 if a case failed, or 2
 * if the command line is wrong or its data is missing.
 * @param program the program to start for cases that run side by side; without it, the cases run in this
 * process, one after the other.
 */
export async function conformance(
  args: readonly string[],
  suites: readonly Suite[],
  console: Console,
  program?: string,
): Promise<0 | 1 | 2> {
  const named = suites.filter(({ name }) => name === args[0]);
  const help = usage(named.length > 0 ? named : suites);
  if (args.includes('--help') || args.includes('-h')) {
    console.out(help);
    return 0;
  }
  try {
    const command = parseCommand(args, suites);
    const report = command.json ? jsonReport(console) : textReport(console);
    const open = await command.suite.open(command.options);
    let processes: readonly CaseProcess[] = [];
    try {
      requireMatch(open, command.filter);
      if (program) processes = processesFor(program, args, command, open);
      const lanes = processes.length > 0 ? processes.map(({ run }) => run) : [here(open.cases)];
      const counts = await runCases(open.cases, command.filter, lanes, report);
      report.counted(counts);
      return counts.fail > 0 ? 1 : 0;
    } finally {
      for (const one of processes) one.close();
      open.close();
    }
  } catch (error) {
    if (error instanceof UsageError) console.error(`${help}\n\n${error.message}`);
    else if (error instanceof SetupError) console.error(error.message);
    else throw error;
    return 2;
  }
}

/** A run without cases is not a success: most likely a name is misspelt. */
function requireMatch({ cases }: OpenSuite, filter: string): void {
  if (cases.length === 0) throw new SetupError('The suite has no cases.');
  if (!cases.some(({ name }) => name.includes(filter))) {
    throw new SetupError(
      `--filter: no case of ${cases.length} matches '${filter}'; the first is '${cases[0].name}'.`,
    );
  }
}

/** The number of cases that are worth the start of a process. */
const casesOfProcess = 8;

/** The processes that the command asks for; none if this process alone is as fast. */
function processesFor(
  program: string,
  args: readonly string[],
  { jobs, filter }: Command,
  { cases }: OpenSuite,
): CaseProcess[] {
  const length = Math.min(jobs, Math.ceil(countOfRun(cases, filter) / casesOfProcess));
  return length > 1 ? Array.from({ length }, () => caseProcess(program, args, cases)) : [];
}
