import { runTask, TASK_WORDS, type TaskHost } from './tasks.ts';

/** The numbers by which threads share steps: one i32 each, in shared memory. */
export const control = {
  /** Tasks that nobody has claimed, and above these bits the watch that may claim them. */
  left: 0,
  /** Tasks that are done. */
  done: 1,
  /** Changes with every step, and wakes threads that wait for one. */
  turn: 2,
  /** Which watch it is: threads of an earlier one leave. */
  watch: 3,
  /** The word of the first task of the step, how many there are, and how many make what the others read. */
  tasks: 4,
  count: 5,
  packing: 6,
  /** 1 when a thread could not run a task. */
  failed: 7,
  /** For each worker the watch that it stands; 0 when it stands none, and `NEVER` when it cannot. */
  standing: 8,
} as const;

/** In place of a watch, of a worker that lacks the memory for one. */
export const NEVER: number = -1;

/** Bits that count tasks; the others tell watches apart. */
const COUNT_BITS = 16;
/** The most tasks of a step. */
export const MOST_TASKS: number = 2 ** COUNT_BITS - 1;

/** So many tasks, for the threads of a watch. */
export const tasksLeft = (watch: number, count: number): number => (watch << COUNT_BITS) | count;

/**
 * Claims and runs tasks until there are none left for the threads of a watch. A thread that comes late
 * neither takes a task of a step that is over, nor one of a watch that may know more than the thread does.
 */
export function runTasks(
  shared: Int32Array,
  watch: number,
  words: () => Int32Array,
  thread: number,
  host: TaskHost,
): void {
  for (;;) {
    const seen = Atomics.load(shared, control.left);
    const left = seen & MOST_TASKS;
    if (left === 0 || seen !== tasksLeft(watch, left)) return;
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
