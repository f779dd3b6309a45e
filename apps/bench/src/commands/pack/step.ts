import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** One program that measures or checks something. */
export interface Step {
  /** The name of the step and of its files. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The step is ended after this many seconds. */
  readonly seconds: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** How a step ended. Its output is in `NAME.out` and `NAME.log` in any case. */
export interface Outcome {
  readonly step: string;
  readonly seconds: number;
  readonly result: string;
}

/** Runs a step; when its time is over, ends it and all processes that it has started. It never throws. */
export async function runStep({ name, command, args, seconds, env }: Step, folder: string): Promise<Outcome> {
  const start = performance.now();
  const outcome = (result: string): Outcome => ({
    ...{ step: name, result },
    seconds: (performance.now() - start) / 1000,
  });
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The process leads a process group, which can be ended as a whole.
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
  // A process that failed to start has not ended its streams.
  out.end();
  log.end();
  await Promise.all([finished(out), finished(log)]);
  return outcome(result);
}

/**
 * Ends a process and all processes that it has started. The group may be gone already while its output is
 * still being read.
 */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Runs steps one after the other within a total number of seconds: a step gets the time that is left, and
 * steps that would get less than five seconds are skipped.
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
