import { existsSync, readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const taskFolder = '/proc/self/task';

/** Threads of this process, as far as the system names them: at least the one that runs this. */
const threadsSoFar = (): number[] =>
  existsSync(taskFolder) ? readdirSync(taskFolder).map(Number) : [process.pid];

/**
 * Gives way to an adapter of software, whose threads start between this call and that of the function that it
 * gives. Otherwise they share the processors with Node's own, one of which asks Dawn all the time whether
 * work is done. It stays so until the process ends: not everyone may take such a thing back, and what runs
 * alone is as fast.
 */
export function giveWay(): () => void {
  const threads = threadsSoFar();
  return () => {
    for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
  };
}
