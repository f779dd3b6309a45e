import { InvalidArgumentError } from '@tilewise/core';

/** Runs executions that share memory one at a time, and refuses executions after the memory is released. */
export class SerialQueue {
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #open = 0;
  #isReleased = false;

  /** @param what the name of the memory's owner in errors. */
  constructor(what: string) {
    this.#what = what;
  }

  /** @throws InvalidArgumentError after `release`. */
  check(): void {
    if (this.#isReleased) throw new InvalidArgumentError(this.#what, 'has been released');
  }

  /** Whether an execution is running or waiting. */
  get isTaken(): boolean {
    return this.#open > 0;
  }

  /** Runs `work` after all work that was queued earlier. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    this.check();
    this.#open++;
    const result = this.#last.then(work).finally(() => this.#open--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /**
   * Runs `work` immediately if nothing is running or waiting. Returns a promise if the work must wait or is
   * asynchronous.
   */
  runSoon(work: () => Promise<void> | void): Promise<void> | void {
    this.check();
    if (this.isTaken) return this.run(async () => work());
    const waiting = work();
    return waiting && this.run(() => waiting);
  }

  /**
   * Frees the memory after the queued work; a second call does nothing.
   */
  release(free: () => void): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#open === 0) free();
    else this.#last.then(free);
  }
}
