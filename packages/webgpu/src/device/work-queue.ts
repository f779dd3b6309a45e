import { InvalidArgumentError } from '@tilewise/core';

/** Something that is to be given to the GPU in its turn. */
export interface QueuedWork<R> {
  /** A promise that the work waits for besides the work before it, such as the compilation of its kernels. */
  readonly ready?: Promise<unknown> | undefined;
  /** Buffers that the work reads or writes. */
  readonly buffers?: readonly GPUBuffer[];
  /** Gives the work to the GPU. */
  run(): R;
  /** Is told when `ready` rejects, or `run` throws in its turn, before the work behind it runs. */
  readonly fail?: (error: unknown) => void;
}

/**
 * Work of one device that waits until its kernels are compiled, and what was called behind it: all of it
 * reaches the GPU in the order of the calls.
 */
export class WorkQueue {
  /** Settles with the last work; undefined when nothing waits. Never rejects. */
  #last: Promise<void> | undefined;
  /** The buffers of each work that waits. */
  readonly #used = new Set<readonly GPUBuffer[]>();

  /**
   * Checks buffers that the caller submits work on, which may reach the GPU before work that waits.
   * @throws InvalidArgumentError when work that waits reads or writes one.
   */
  demandUnused(buffers: readonly GPUBuffer[]): void {
    for (const used of this.#used) {
      if (used.some(buffer => buffers.includes(buffer)))
        throw new InvalidArgumentError(
          'buffers',
          'is used by a call that waits for its kernels: await ctx.submitted() first',
        );
    }
  }

  /** Resolves when all work so far has been given to the GPU, or has failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /**
   * Runs work: at once where it need not wait and nothing else waits, else behind all that waits. The promise
   * then rejects with what the work failed by; nobody needs to listen.
   */
  run<R>(work: QueuedWork<R>): R | Promise<R> {
    return this.#last || work.ready ? this.#add(work) : work.run();
  }

  #add<R>({ ready, buffers = [], run, fail }: QueuedWork<R>): Promise<R> {
    const used = [...buffers];
    this.#used.add(used);
    const before = this.#last;
    // Looked at when its turn comes.
    ready?.catch(() => {});
    const turn = (async () => {
      await before;
      await ready;
      return run();
    })();
    const done = (): void => {
      this.#used.delete(used);
      if (this.#last === last) this.#last = undefined;
    };
    const last: Promise<void> = turn.then(done, error => {
      done();
      fail?.(error);
    });
    this.#last = last;
    return turn;
  }
}

const queues = new WeakMap<GPUDevice, WorkQueue>();

/** The queue of a device, which all contexts on the device share. */
export function workQueue(device: GPUDevice): WorkQueue {
  const queue = queues.get(device) ?? new WorkQueue();
  queues.set(device, queue);
  return queue;
}
