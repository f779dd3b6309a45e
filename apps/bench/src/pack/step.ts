import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** One program that measures or checks something, on its own. */
export interface Step {
  /** Names its files, too. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** After so many it is ended. */
  readonly seconds: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** How a step went. Its output is in `NAME.out` and `NAME.log`, whatever happened. */
export interface Outcome {
  readonly step: string;
  readonly seconds: number;
  readonly result: string;
}

/** Runs a step; ends it, and all that it has started, when its time is over. It never throws. */
export async function runStep({ name, command, args, seconds, env }: Step, folder: string): Promise<Outcome> {
  const start = performance.now();
  const outcome = (result: string): Outcome => ({
    ...{ step: name, result },
    seconds: (performance.now() - start) / 1000,
  });
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which is ended as a whole.
    detached: true,
    env: { ...process.env, ...env },
  });
  const [out, log] = ['out', 'log'].map(ending => createWriteStream(join(folder, `${name}.${ending}`)));
  child.stdout.pipe(out);
  child.stderr.pipe(log);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    if (child.pid !== undefined) endGroup(child.pid);
  }, 1000 * seconds);
  const result = await new Promise<string>(resolve => {
    child.on('error', error => resolve(`did not start: ${error.message}`));
    child.on('close', (code, signal) => {
      if (late) resolve(`ended after ${seconds.toFixed(0)} s`);
      else resolve(code === 0 ? 'done' : `failed with ${signal ?? code}`);
    });
  });
  clearTimeout(timer);
  // What did not start has not ended its streams.
  out.end();
  log.end();
  await Promise.all([finished(out), finished(log)]);
  return outcome(result);
}

/**
 * Ends a process and all that it has started; there may be none left, while what they wrote is still being
 * read.
 */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Runs steps one after the other, within so many seconds in all: a step gets what is left, and those that
 * would get less than five seconds are left out.
 */
export async function runSteps(
  steps: readonly Step[],
  folder: string,
  seconds: number,
  report: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const end = performance.now() + 1000 * seconds;
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    const left = (end - performance.now()) / 1000;
    const outcome =
      left < 5
        ? { step: step.name, seconds: 0, result: 'left out: no time' }
        : await runStep({ ...step, seconds: Math.min(step.seconds, left) }, folder);
    report(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}
