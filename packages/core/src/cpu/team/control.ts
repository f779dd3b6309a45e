import { runTask, TASK_WORDS, type TaskHost } from './tasks.ts';

/** The numbers with which threads coordinate steps: one i32 each, in shared memory. */
export const control = {
  /** The number of unclaimed tasks and, in the bits above, the region whose threads may claim them. */
  left: 0,
  /** The number of finished tasks. */
  done: 1,
  /** Changes with every step; threads wait on it for the next step. */
  turn: 2,
  /** The number of the parallel region; threads of an earlier one leave. */
  region: 3,
  /**
   * The word index of the step's first task, the number of tasks, and how many of them make what the others
   * read.
   */
  tasks: 4,
  count: 5,
  packing: 6,
  /** 1 when a thread could not run a task. */
  failed: 7,
  /** For each worker, the region that it was asked to join; 0 if it has left, `NEVER` if it cannot join. */
  joined: 8,
} as const;

/** The entry in `joined` of a worker that lacks the memory for its instances. */
export const NEVER: number = -1;

/** The bits that count tasks; the other bits identify the region. */
const COUNT_BITS = 16;
/** The most tasks of a step. */
export const MOST_TASKS: number = 2 ** COUNT_BITS - 1;

/** The number that says how many tasks are left for the threads of a region. */
export const tasksLeft = (region: number, count: number): number => (region << COUNT_BITS) | count;

/**
 * Claims and runs tasks until none are left for the threads of a region. A late thread cannot claim a task of
 * a step that is over, or of a newer region, which may use memory or loops that the thread does not know.
 */
export function runTasks(
  shared: Int32Array,
  region: number,
  words: () => Int32Array,
  thread: number,
  host: TaskHost,
): void {
  for (;;) {
    const seen = Atomics.load(shared, control.left);
    const left = seen & MOST_TASKS;
    if (left === 0 || seen !== tasksLeft(region, left)) return;
    if (Atomics.compareExchange(shared, control.left, seen, seen - 1) !== seen) continue;
    const count = shared[control.count];
    const n = count - left;
    if (n >= shared[control.packing]) awaitPacked(shared);
    runTask(words(), shared[control.tasks] + n * TASK_WORDS, thread, host);
    if (Atomics.add(shared, control.done, 1) + 1 === count) Atomics.notify(shared, control.done);
  }
}

/** Waits for the tasks that pack. They were claimed earlier, and take microseconds. */
function awaitPacked(shared: Int32Array): void {
  while (Atomics.load(shared, control.done) < shared[control.packing]) {
    if (Atomics.load(shared, control.failed) !== 0) return;
  }
}
