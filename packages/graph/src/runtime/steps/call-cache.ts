import type { PreparedCall } from './prepared-call.ts';

/** The maximum number of prepared calls that are kept for numbers that may recur. */
const MAX_SPARE_CALLS = 16;

/** The prepared calls of one step, by the numbers that they were prepared for. */
export class CallCache<T extends object> {
  /** Calls that may be in a caller's encoder. */
  readonly #kept = new Map<string, PreparedCall<T>>();
  /** The other calls, in order of use. */
  readonly #spare = new Map<string, PreparedCall<T>>();

  /**
   * @param key the numbers of the call.
   * @param isKept whether the call is kept until `release`, because it may be in a caller's encoder.
   * @param prepare prepares the call if there is none for these numbers.
   */
  get(key: string, isKept: boolean, prepare: () => PreparedCall<T> | null): PreparedCall<T> | null {
    const call = this.#kept.get(key) ?? this.#spare.get(key) ?? prepare();
    if (!call) return null;
    this.#spare.delete(key);
    (isKept || this.#kept.has(key) ? this.#kept : this.#spare).set(key, call);
    if (this.#spare.size > MAX_SPARE_CALLS) {
      const [[oldest, unused]] = this.#spare;
      this.#spare.delete(oldest);
      unused.release();
    }
    return call;
  }

  /** Drops work that is bound to tensors. */
  unbind(): void {
    for (const { recurring } of this.#calls()) recurring.release();
  }

  release(): void {
    for (const call of this.#calls()) call.release();
    this.#kept.clear();
    this.#spare.clear();
  }

  #calls(): PreparedCall<T>[] {
    return [...this.#kept.values(), ...this.#spare.values()];
  }
}
