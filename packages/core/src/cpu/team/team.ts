import type { Kernels } from '../kernels/interface/kernels.ts';
import { type Pool, WorkerFailure } from '../threads/pool.ts';
import { announce, control, fillQueues, LONGEST_WAIT, queueAt, runTasks } from './control.ts';
import { createRegions } from './regions.ts';
import { taskHost } from './task-host.ts';
import type { TaskList } from './tasks.ts';

/** Threads that share the steps of programs: workers, and the calling thread (a team in OpenMP's terms). */
export interface Team {
  /**
   * The threads that share a step, including the calling thread. It is 1 as long as there are no workers,
   * which start when they are first requested.
   */
  readonly threads: number;
  /**
   * Whether a worker is in the region and does not sleep, so that even short steps are worth sharing. Unlike
   * `threads`, this starts no workers.
   */
  readonly isAwake: boolean;
  /**
   * Runs at most `MAX_TASKS` tasks, and returns when all are done. The calling thread does not wait for
   * workers to join: late workers find fewer tasks, or none.
   * @param wakes whether the step is long enough to wake workers that sleep.
   * @throws WorkerFailure if a worker could not run a task that it had claimed; later steps run on the
   * calling thread.
   */
  run(kernels: Kernels, tasks: TaskList, wakes: boolean): void;
  /** Ends the region, so that workers leave it and read their messages. */
  disband(): void;
}

/** How often the calling thread checks the number of finished tasks before it sleeps. */
const SPINS = 2000;

/** A team of the workers that `pool` returns, which is null if there are none, or none yet. */
export function createTeam(pool: () => Pool | null): Team {
  const regions = createRegions();
  let canBlock = true;
  let isBroken = false;

  function broken(reason: string): WorkerFailure {
    isBroken = true;
    return new WorkerFailure(reason);
  }

  /** Waits until all tasks are done. */
  function finish(numbers: Int32Array, count: number): void {
    const end = performance.now() + LONGEST_WAIT;
    for (let spins = 0; ; spins++) {
      const done = Atomics.load(numbers, control.done);
      if (done === count) return;
      if (Atomics.load(numbers, control.failed) !== 0) throw broken('a worker could not run its tasks');
      if (spins < SPINS) continue;
      if (performance.now() > end) throw broken('a worker has not finished its tasks');
      if (canBlock) sleep(numbers, done);
    }
  }

  /** Sleeps until a task is done, or for a millisecond; the main thread of a page must not sleep. */
  function sleep(numbers: Int32Array, done: number): void {
    Atomics.store(numbers, control.waiting, 1);
    try {
      Atomics.wait(numbers, control.done, done, 1);
    } catch {
      canBlock = false;
    }
    Atomics.store(numbers, control.waiting, 0);
  }

  return {
    get threads() {
      return isBroken ? 1 : (pool()?.threads ?? 1);
    },
    get isAwake() {
      const { shared } = regions;
      return !isBroken && shared !== null && Atomics.load(shared, control.awake) > 0;
    },
    run(kernels, { at, count }, wakes) {
      const host = taskHost(kernels);
      const workers = pool();
      const called = workers && regions.call(workers, kernels);
      const numbers = called ?? alone();
      numbers[control.tasks] = at >>> 2;
      Atomics.store(numbers, control.done, 0);
      fillQueues(numbers, regions.current, count);
      if (called) announce(called, wakes);
      try {
        runTasks(numbers, regions.current, () => kernels.memory.i32, 0, host);
      } catch (error) {
        Atomics.store(numbers, control.failed, 1);
        isBroken = true;
        throw error;
      }
      finish(numbers, count);
    },
    disband: regions.end,
  };
}

/** The numbers of a team without workers. */
function alone(): Int32Array {
  const numbers = new Int32Array(queueAt(1));
  numbers[control.threads] = 1;
  return numbers;
}
