import { runTask, TASK_WORDS, type TaskHost } from './tasks.ts';

/** The numbers by which threads share steps: one i32 each, in shared memory. */
export const control = {
  /** How many tasks nobody has claimed, and in the bits above them which region may claim tasks. */
  left: 0,
  /** Tasks that are done. */
  done: 1,
  /** Changes with every step, and wakes threads that wait for one. */
  turn: 2,
  /** The number of the parallel region: threads of an earlier one leave. */
  region: 3,
  /** The word of the first task of the step, how many there are, and how many make what the others read. */
  tasks: 4,
  count: 5,
  packing: 6,
  /** 1 when a thread could not run a task. */
  failed: 7,
  /** For each worker the region that it was asked to join; 0 when it has left, `NEVER` if it cannot join. */
  joined: 8,
} as const;

/** What a worker joins that lacks the memory for its instances. */
export const NEVER: number = -1;

/** Bits that count tasks; the others tell regions apart. */
const COUNT_BITS = 16;
/** The most tasks of a step. */
export const MOST_TASKS: number = 2 ** COUNT_BITS - 1;

/** The number that says how many tasks are left for the threads of a region. */
export const tasksLeft = (region: number, count: number): number => (region << COUNT_BITS) | count;

/**
 * Claims and runs tasks until there are none left for the threads of a region. A thread that comes late
 * neither takes a task of a step that is over, nor one of a region that may know more than the thread does.
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

/** Tasks that pack have been claimed before, and take microseconds. */
function awaitPacked(shared: Int32Array): void {
  while (Atomics.load(shared, control.done) < shared[control.packing]) {
    if (Atomics.load(shared, control.failed) !== 0) return;
  }
}
