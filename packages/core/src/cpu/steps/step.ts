import type { AllocateWords } from '../kernels/memory/memory.ts';
import type { SharedFrom } from '../team/sharing.ts';
import type { TaskRows } from '../team/tasks.ts';

/**
 * A step of a program on operands in the memory of kernels: tasks for one thread or several, with the same
 * results for any number of threads.
 */
export interface Step {
  /** The size of the step, and the sizes from which threads share it. */
  readonly size: number;
  readonly sharedFrom: SharedFrom;
  /** Throws if the step cannot run with the numbers that its operands have now. */
  readonly check?: () => void;
  /** Whether the step can run again if a worker has failed: it does not write what it reads. */
  readonly isRepeatable?: boolean;
  /**
   * The tasks for a number of threads; null if the step cannot be divided like that. Their scratch memory
   * consists of panels of the kernels' memory.
   * @param allocate allocates memory for the numbers of the tasks, which exists as long as the tasks.
   */
  tasks(threads: number, allocate: AllocateWords): TaskRows | null;
}

/**
 * A short step of one task, which runs on the calling thread.
 * @param task returns the numbers of the task; for its parameter see `Step.tasks`.
 */
export function undividedStep(task: (allocate: AllocateWords) => readonly number[]): Step {
  return {
    size: 0,
    sharedFrom: { awake: Infinity, asleep: Infinity },
    tasks: (threads, allocate) => (threads === 1 ? [task(allocate)] : null),
  };
}
