import { TilewiseError } from '../../errors.ts';
import type { BoundWork } from '../../primitive/bound-work.ts';
import { engineKernels } from '../kernels/engine-kernels.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { Variant } from '../kernels/variant.ts';
import { sharingOf } from '../team/sharing.ts';
import { taskHost } from '../team/task-host.ts';
import { runAlone, type TaskHost, type TaskList, writeTasks } from '../team/tasks.ts';
import type { Team } from '../team/team.ts';
import { runShared } from './share-step.ts';
import type { Step } from './step.ts';
import { createWordArena, type WordArena } from './word-arena.ts';

/** A step with its tasks for the calling thread, and for a team unless it is not divided. */
interface WrittenStep {
  readonly step: Step;
  readonly alone: TaskList;
  readonly shared: TaskList | null;
}

/** Steps with their tasks, and what the tasks depend on. */
interface Written {
  /** The kernels whose memory has the operands; they exist as long as something is kept in their memory. */
  readonly kernels: Kernels;
  readonly generation: number;
  /** The threads that share the steps; 1 if there is no team yet. */
  readonly threads: number;
  readonly words: WordArena;
  readonly host: TaskHost;
  readonly steps: readonly WrittenStep[];
}

/**
 * Writes steps for repeated runs; null if there are none, or if there is no memory for their tasks.
 * @param make the steps on some kernels, or null. Their operands are in the memory of the kernels.
 */
export function bindSteps(
  variant: Variant,
  team: Team | null,
  make: (kernels: Kernels) => readonly Step[] | null,
): BoundWork | null {
  let written = engineKernels.withKernels(variant, kernels => writeOrNull(kernels, make));
  if (!written) return null;
  const { kernels: own } = written;
  /** The number of threads of the team, when a step was last long enough for it. */
  let threads = 1;
  let isReleased = false;

  function release(): void {
    written?.words.release();
    written = null;
  }

  /** The tasks, written again if the threads or the scratch memory have changed. */
  function current(kernels: Kernels): Written {
    if (written?.generation === kernels.memory.generation && written.threads === threads) return written;
    if (isReleased || kernels !== own)
      throw new Error('the steps were released, or were bound to the memory of other kernels');
    release();
    written = write(kernels, make, threads);
    if (!written) throw new Error('the tasks of bound steps cannot be written again');
    return written;
  }

  function runOn(kernels: Kernels): void {
    const { steps, host, threads: dividedAmong } = current(kernels);
    for (let n = 0; n < steps.length; n++) {
      const { step, alone, shared } = steps[n];
      step.check?.();
      const sharing = team && sharingOf(team, step);
      if (sharing) threads = sharing.threads;
      const isDivided = team && sharing && shared && threads === dividedAmong;
      if (!isDivided || !runShared(team, kernels, step, shared, sharing))
        runAlone(kernels.memory.i32, alone, host);
    }
  }

  const work: BoundWork = {
    run: () => engineKernels.withKernels(variant, runOn),
    release() {
      isReleased = true;
      release();
    },
  };
  runners.set(work, runOn);
  return work;
}

/** A call on kernels as bound work, which can be joined with bound steps. */
export function bindCall(variant: Variant, call: (kernels: Kernels) => void): BoundWork {
  const work: BoundWork = { run: () => engineKernels.withKernels(variant, call), release: () => {} };
  runners.set(work, call);
  return work;
}

/** How bound work runs on kernels that have been lent. */
const runners = /* @__PURE__ */ new WeakMap<BoundWork, (kernels: Kernels) => void>();

/** Joins bound work, all with one variant, into one work that borrows the kernels only once. */
export function joinSteps(variant: Variant, works: readonly BoundWork[]): BoundWork | null {
  const all = works.flatMap(work => runners.get(work) ?? []);
  if (all.length < works.length) return null;
  const runAll = (kernels: Kernels): void => {
    for (const runOn of all) runOn(kernels);
  };
  return { run: () => engineKernels.withKernels(variant, runAll), release: () => {} };
}

/** Writes the tasks of steps for one thread; null if there are none, or if there is no memory. */
function writeOrNull(kernels: Kernels, make: (kernels: Kernels) => readonly Step[] | null): Written | null {
  try {
    return write(kernels, make, 1);
  } catch (error) {
    if (error instanceof TilewiseError && error.code === 'OUT_OF_MEMORY') return null;
    throw error;
  }
}

/** Writes the tasks of steps; null if there are none. @throws TilewiseError with code `OUT_OF_MEMORY`. */
function write(
  kernels: Kernels,
  make: (kernels: Kernels) => readonly Step[] | null,
  threads: number,
): Written | null {
  const { memory } = kernels;
  memory.reset();
  const made = make(kernels);
  if (!made) return null;
  const words = createWordArena(memory);
  const list = (step: Step, count: number): TaskList | null => {
    const tasks = step.tasks(count, words.allocate);
    return tasks && writeTasks(tasks, words.allocate, memory);
  };
  let isComplete = false;
  try {
    const steps = made.flatMap(step => {
      const alone = list(step, 1);
      return alone ? [{ step, alone, shared: threads === 1 ? null : list(step, threads) }] : [];
    });
    isComplete = steps.length === made.length;
    // The generation is read after all scratch memory has been allocated.
    const { generation } = memory;
    return isComplete ? { kernels, generation, threads, words, host: taskHost(kernels), steps } : null;
  } finally {
    if (!isComplete) words.release();
  }
}
