/**
 * The last of some objects, such as the tensors that are bound to an input. The object is kept alive only
 * after it has recurred; work that is bound to a tensor then keeps the tensor alive too.
 */
export class LastObject<T extends object> {
  #seen: WeakRef<T> | undefined;
  #recurred: T | undefined;

  /** Returns whether an object is the last one. */
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
