/** More values than a program normally has. */
const maxValues = 256;

/** Values by key, of which only the most recently used are kept; the others are destroyed. */
export class RecentValues<Value extends { destroy?(): void } | null> {
  /** The most recently used value is the last. */
  readonly #values = new Map<string, Value>();
  /** The value of the last call, which is already the last in the map. */
  #newest: Value | undefined;

  /** The value with a key, made if there is none. */
  get(key: string, make: () => Value): Value {
    const value = this.#values.get(key) ?? make();
    if (value === this.#newest) return value;
    this.#newest = value;
    this.#values.delete(key);
    this.#values.set(key, value);
    const [[oldest, unused]] = this.#values;
    if (this.#values.size > maxValues) {
      unused?.destroy?.();
      this.#values.delete(oldest);
    }
    return value;
  }
}
