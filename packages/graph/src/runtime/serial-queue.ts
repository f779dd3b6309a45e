import { InvalidArgumentError } from '@tilewise/core';

/**
 * The executions of what holds memory of its own: one at a time, as they share it, and none once it is
 * released.
 */
export class SerialQueue {
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #open = 0;
  #isReleased = false;

  /** @param what is released, as errors name it. */
  constructor(what: string) {
    this.#what = what;
  }

  /** @throws InvalidArgumentError once it is released. */
  check(): void {
    if (this.#isReleased) throw new InvalidArgumentError(this.#what, 'has been released');
  }

  /** Whether something runs, or waits for its turn. */
  get isTaken(): boolean {
    return this.#open > 0;
  }

  /** Runs `work` when all that was asked for before is done. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    this.check();
    this.#open++;
    const result = this.#last.then(work).finally(() => this.#open--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /**
   * Frees the memory, as soon as nothing runs that was asked for before; the second time there is nothing to
   * free.
   */
  release(free: () => void): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#open === 0) free();
    else this.#last.then(free);
  }
}
