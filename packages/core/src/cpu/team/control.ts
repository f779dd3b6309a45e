import { runTask, TASK_WORDS, type TaskHost } from './tasks.ts';

/**
 * The numbers with which threads coordinate steps: one i32 each, in shared memory. Numbers that are written
 * by other threads or at other times are in another cache line, of 16 numbers.
 */
export const control = {
  /** Changes with every step; threads wait for the next step to change it. */
  step: 0,
  /** The number of the parallel region; threads of an earlier one leave. */
  region: 1,
  /** The number of workers in the region that do not sleep, and of those that sleep. */
  awake: 16,
  sleeping: 17,
  /** 1 when a thread could not run a task. */
  failed: 18,
  /** The word index of the step's first task, and the number of tasks. */
  tasks: 32,
  count: 33,
  /** The threads of the team. */
  threads: 34,
  /** The number of finished tasks. */
  done: 48,
  /** 1 while the calling thread sleeps until a task is done. */
  waiting: 49,
  /**
   * For each of `MAX_THREADS` workers, the region that it was asked to join; 0 if it has left, `NEVER` if it
   * cannot join.
   */
  joined: 64,
  /**
   * For each thread, a queue of tasks: a cache line with the number of unclaimed tasks and, in the bits
   * above, the region whose threads may claim them.
   */
  queues: 128,
} as const;

/** The index of a queue's number. A team of n threads has `queueAt(n)` numbers. */
export const queueAt = (queue: number): number => control.queues + 16 * queue;

/** The entry in `joined` of a worker that lacks the memory for its instances. */
export const NEVER: number = -1;

/** How long a thread waits for a task that another has claimed, in milliseconds. */
export const LONGEST_WAIT = 60_000;

/** The bits that count tasks; the other bits identify the region. */
const COUNT_BITS = 16;
/** The maximum number of tasks of a step. */
export const MAX_TASKS: number = 2 ** COUNT_BITS - 1;

/** The number that says how many tasks are left for the threads of a region. */
export const tasksLeft = (region: number, count: number): number => (region << COUNT_BITS) | count;

/**
 * Puts the tasks of a step into the queues. Neighbouring tasks are in one queue, so that a thread often reads
 * what it wrote in an earlier step.
 */
export function fillQueues(shared: Int32Array, region: number, count: number): void {
  shared[control.count] = count;
  for (let queue = 0, first = 0; queue < shared[control.threads]; queue++) {
    const end = endOf(shared, queue);
    Atomics.store(shared, queueAt(queue), tasksLeft(region, end - first));
    first = end;
  }
}

/** The number of the first task after those of a queue. */
function endOf(shared: Int32Array, queue: number): number {
  return Math.floor((shared[control.count] * (queue + 1)) / shared[control.threads]);
}

/**
 * Claims and runs tasks until none are left for the threads of a region: those in the thread's own queue, and
 * then those in the queues of others. A late thread cannot claim a task of a step that is over, or of a newer
 * region, which may use memory or loops that the thread does not know.
 */
export function runTasks(
  shared: Int32Array,
  region: number,
  words: () => Int32Array,
  thread: number,
  host: TaskHost,
): void {
  const threads = shared[control.threads];
  for (let n = 0; n < threads; n++) runQueue((thread + n) % threads);

  function runQueue(queue: number): void {
    const at = queueAt(queue);
    for (;;) {
      const seen = Atomics.load(shared, at);
      const left = seen & MAX_TASKS;
      if (left === 0 || seen !== tasksLeft(region, left)) return;
      if (Atomics.compareExchange(shared, at, seen, seen - 1) !== seen) continue;
      const n = endOf(shared, queue) - left;
      runTask(words(), shared[control.tasks] + n * TASK_WORDS, thread, host);
      const isLast = Atomics.add(shared, control.done, 1) + 1 === shared[control.count];
      if (isLast && Atomics.load(shared, control.waiting) > 0) Atomics.notify(shared, control.done);
    }
  }
}

/** Tells workers that the numbers have changed, and wakes workers that sleep if `wakes` is true. */
export function announce(shared: Int32Array, wakes: boolean): void {
  Atomics.add(shared, control.step, 1);
  if (wakes && Atomics.load(shared, control.sleeping) > 0) Atomics.notify(shared, control.step);
}
