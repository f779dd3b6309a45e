import { type ChildProcess, fork } from 'node:child_process';
import type { CaseResult, ConformanceCase } from './case.ts';
import { here, type Lane } from './run-cases.ts';

/**
 * The first argument of a process that runs cases for another; the other arguments are that process's own.
 */
const word = 'case-process';

/** A lane that runs in another process. */
export interface CaseProcess {
  readonly run: Lane;
  /** Ends the process. */
  close(): void;
}

/**
 * A process of `program` that runs cases of the same command line, with the same numbering as this process.
 * If it dies, the case that it was running has failed, and the next case starts it again.
 */
export function caseProcess(
  program: string,
  args: readonly string[],
  cases: readonly Pick<ConformanceCase, 'name'>[],
): CaseProcess {
  let child: ChildProcess | undefined;
  const start = (): ChildProcess => {
    const started = fork(program, [word, ...args], { serialization: 'advanced' });
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    return started;
  };
  return {
    run(index) {
      child ??= start();
      return answerOf(child, index, cases[index].name);
    },
    close() {
      child?.kill();
      child = undefined;
    },
  };
}

function answerOf(child: ChildProcess, index: number, name: string): Promise<CaseResult> {
  const began = performance.now();
  return new Promise(resolve => {
    const settle = (result: CaseResult): void => {
      child.off('message', settle);
      child.off('exit', died);
      resolve(result);
    };
    const died = (code: number | null, signal: string | null): void =>
      settle({
        ...{ case: name, status: 'fail', error: null, reason: `its process ended with ${signal ?? code}` },
        ms: Math.round(performance.now() - began),
      });
    child.on('message', settle);
    child.on('exit', died);
    child.send(index, () => {
      // A message that is not received gets no answer; the process's exit is handled instead.
    });
  });
}

/** The arguments of the program that this process runs cases for; undefined if it runs for itself. */
export function argumentsOfCaseProcess(args: readonly string[]): readonly string[] | undefined {
  const [first, ...others] = args;
  return first === word && process.send ? others : undefined;
}

/** Runs the cases whose numbers arrive, until the parent process is gone. */
export function serveCases(cases: readonly ConformanceCase[]): void {
  const run = here(cases);
  process.on('message', async (index: number) => process.send?.(await run(index)));
  process.on('disconnect', () => process.exit());
}
