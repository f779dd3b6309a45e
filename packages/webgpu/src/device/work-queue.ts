import { InvalidArgumentError } from '@tilewise/core';

/** Work that is to be given to the GPU in order. */
export interface QueuedWork<R> {
  /** A promise that the work waits for besides the earlier work, such as the compilation of its kernels. */
  readonly ready?: Promise<unknown> | undefined;
  /** The buffers that the work reads or writes. Called only if the work has to wait. */
  buffers?(): readonly GPUBuffer[];
  /** Gives the work to the GPU. */
  run(): R;
  /** Called before later work runs if work that had to wait fails: if `ready` rejects or `run` throws. */
  readonly fail?: (error: unknown) => void;
}

/** A batch of operations that is being recorded. */
export interface OpenBatch {
  /** Submits the operations so far, because work that follows them may read what they write. */
  submit(): void;
  /** Whether operations of this or of an outer batch that have not been submitted may use a buffer. */
  uses(buffer: GPUBuffer): boolean | undefined;
  /** Functions to call after the batch, such as those that give back buffers which the batch may use. */
  readonly afterwards: (() => void)[];
}

/**
 * The work of one device that waits for the compilation of its kernels, and the work called after it: all of
 * it reaches the GPU in the order of the calls.
 */
export class WorkQueue {
  /** Settles with the last work; undefined if nothing waits. Never rejects. */
  #last: Promise<void> | undefined;
  /** The buffers of each waiting work. */
  readonly #used = new Set<readonly GPUBuffer[]>();
  /** The batch that is being recorded, if any. */
  batch: OpenBatch | undefined;

  /**
   * Checks buffers that the caller submits work on, because the caller's work may reach the GPU before work
   * that waits.
   * @throws InvalidArgumentError if waiting work reads or writes one of the buffers.
   */
  demandUnused(buffers: readonly GPUBuffer[]): void {
    for (const used of this.#used) {
      if (used.some(buffer => buffers.includes(buffer)))
        throw new InvalidArgumentError(
          'buffers',
          'are used by a call that waits for its kernels: await ctx.submitted() first',
        );
    }
  }

  /** Whether work that has not been given to the GPU may use a buffer. */
  mayUse(buffer: GPUBuffer): boolean | undefined {
    return this.#last !== undefined || this.batch?.uses(buffer);
  }

  /** Resolves when all work so far has been given to the GPU, or has failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /**
   * Runs work at once if nothing waits and the work need not wait, and throws what the work throws. Otherwise
   * runs it after all waiting work, and the returned promise rejects with the work's error; nobody needs to
   * handle the rejection. What has been recorded of a batch comes first.
   */
  run<R>(work: QueuedWork<R>): R | Promise<R> {
    this.batch?.submit();
    return this.#last || work.ready ? this.#add(work) : work.run();
  }

  /** Calls a function after all work so far, and after the whole batch that is being recorded. */
  afterwards(run: () => void): void {
    if (this.batch) this.batch.afterwards.push(run);
    else this.run({ run });
  }

  #add<R>({ ready, buffers, run, fail }: QueuedWork<R>): Promise<R> {
    const used = [...(buffers?.() ?? [])];
    this.#used.add(used);
    const before = this.#last;
    // The rejection is handled when the work's turn comes.
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
  const known = queues.get(device);
  if (known) return known;
  const queue = new WorkQueue();
  queues.set(device, queue);
  return queue;
}
