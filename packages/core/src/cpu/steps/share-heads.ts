import type { ComputeHeads } from '../attention/small-heads/compute-heads.ts';
import { WorkerFailure } from '../threads/pool.ts';
import { sharingOf, type Worth } from './sharing.ts';
import { headPasses, taskKinds } from './tasks.ts';
import type { Team } from './team.ts';

/** In multiplications. */
const worth: Worth = { awake: 2 ** 18, asleep: 2 ** 20 };
/**
 * The most tasks per thread, so that threads end at about the same time, and the fewest multiplications of a
 * task if a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_SIZE = 2 ** 17;

/**
 * Runs passes over small heads on the threads of a team, if there is one and a pass is long enough, and on
 * the calling thread if a worker fails.
 */
export function shareHeads(team: Team | null): ComputeHeads {
  return (kernels, { pass, heads, multiplications }, write) => {
    const { heads: given } = kernels;
    if (!given) throw new Error('small heads need kernels in WebAssembly');
    const sharing = team && heads > 1 ? sharingOf(team, multiplications, worth) : null;
    const numbers = write(sharing?.threads ?? 1);
    const alone = (): void => given[pass](numbers, 0, 0, heads);
    if (!team || !sharing) {
      alone();
      return;
    }
    const { threads, wakes } = sharing;
    const tasksEach = Math.max(1, Math.min(TASKS_EACH, Math.floor(multiplications / (threads * TASK_SIZE))));
    const each = Math.ceil(heads / (threads * tasksEach));
    const rows: number[][] = [];
    for (let first = 0; first < heads; first += each) {
      const count = Math.min(each, heads - first);
      rows.push([taskKinds.heads, headPasses.indexOf(pass), numbers, first, count]);
    }
    try {
      team.run(kernels, { rows, packing: 0, wakes });
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error;
      // A head that is computed again has the same bits.
      alone();
    }
  };
}
