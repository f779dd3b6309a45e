import { shareStep } from '../../steps/share-step.ts';
import type { Step } from '../../steps/step.ts';
import type { SharedFrom } from '../../team/sharing.ts';
import { headPasses, taskKinds } from '../../team/tasks.ts';
import type { Team } from '../../team/team.ts';
import type { ComputeHeads, HeadWork } from './compute-heads.ts';

/** In multiplications. */
const sharedFrom: SharedFrom = { awake: 2 ** 18, asleep: 2 ** 20 };
/**
 * The maximum number of tasks per thread, so that threads end at about the same time, and the minimum number
 * of multiplications of a task if a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_SIZE = 2 ** 17;

/** A pass over small heads as a step. A single head is not divided. */
export function headStep({ pass, heads, multiplications, write }: HeadWork): Step {
  return {
    size: heads > 1 ? multiplications : 0,
    sharedFrom,
    isRepeatable: true,
    tasks(threads, allocate) {
      const numbers = write(threads, allocate);
      const most = threads === 1 ? 1 : Math.floor(multiplications / (threads * TASK_SIZE));
      const each = Math.ceil(heads / (threads * Math.max(1, Math.min(TASKS_EACH, most))));
      const rows: number[][] = [];
      for (let first = 0; first < heads; first += each) {
        const count = Math.min(each, heads - first);
        rows.push([taskKinds.heads, headPasses.indexOf(pass), numbers, first, count]);
      }
      return rows;
    },
  };
}

/**
 * Runs passes over small heads on the threads of a team, if there is one and a pass is long enough, and on
 * the calling thread if a worker fails.
 */
export function shareHeads(team: Team | null): ComputeHeads {
  return (kernels, work) => {
    const { heads, memory } = kernels;
    if (!heads) throw new Error('small heads need kernels in WebAssembly');
    if (team && shareStep(kernels, headStep(work), team)) return;
    heads[work.pass](
      work.write(1, words => memory.scratch(words).at),
      0,
      0,
      work.heads,
    );
  };
}
