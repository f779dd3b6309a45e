/**
 * The last of some objects. It is kept alive only once it has recurred, as by the work that is then bound to
 * it.
 */
export class LastObject<T extends object> {
  #seen: WeakRef<T> | undefined;
  #recurred: T | undefined;

  /** Whether an object is the last one. */
  is(object: T): boolean {
    if (this.#recurred === object) return true;
    if (this.#recurred || this.#seen?.deref() !== object) return false;
    this.#recurred = object;
    return true;
  }

  /** Remembers an object, or none. */
  set(object?: T): void {
    this.#recurred = undefined;
    this.#seen = object && new WeakRef(object);
  }

  /** Lets go of an object that has recurred. */
  release(): void {
    if (this.#recurred) this.set(this.#recurred);
  }
}
