import { existsSync, readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const taskFolder = '/proc/self/task';

/** The threads of this process that the system lists, at least the current one. */
const threadsSoFar = (): number[] =>
  existsSync(taskFolder) ? readdirSync(taskFolder).map(Number) : [process.pid];

/**
 * Lowers the priority of the existing threads in favour of a software adapter. The adapter must start its
 * threads between the call of this function and the call of the function that it returns. Otherwise the
 * adapter's threads would share the processors with Node's own threads, one of which polls Dawn all the time.
 * The priority stays low until the process ends, because not every user may raise it again; when the process
 * runs alone, it is as fast.
 */
export function giveWay(): () => void {
  const threads = threadsSoFar();
  return () => {
    for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
  };
}
