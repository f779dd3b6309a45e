import type { PreparedCall } from './prepared-call.ts';

/** The maximum number of prepared calls that are kept for numbers that may recur. */
const MAX_SPARE_CALLS = 16;

/** The prepared calls of one step, by the numbers that they were prepared for. */
export interface CallCache<T extends object> {
  /**
   * @param key the numbers of the call.
   * @param isKept whether the call is kept until `release`, because it may be in a caller's encoder.
   * @param prepare prepares the call if there is none for these numbers.
   */
  get(key: string, isKept: boolean, prepare: () => PreparedCall<T> | null): PreparedCall<T> | null;
  /** Drops work that is bound to tensors. */
  unbind(): void;
  release(): void;
}

export function createCallCache<T extends object>(): CallCache<T> {
  /** Calls that may be in a caller's encoder, and the other calls in order of use. */
  const kept = new Map<string, PreparedCall<T>>();
  const spare = new Map<string, PreparedCall<T>>();
  const all = (): PreparedCall<T>[] => [...kept.values(), ...spare.values()];
  return {
    get(key, isKept, prepare) {
      const call = kept.get(key) ?? spare.get(key) ?? prepare();
      if (!call) return null;
      spare.delete(key);
      (isKept || kept.has(key) ? kept : spare).set(key, call);
      if (spare.size > MAX_SPARE_CALLS) {
        const [[oldest, unused]] = spare;
        spare.delete(oldest);
        unused.release();
      }
      return call;
    },
    unbind() {
      for (const { recurring } of all()) recurring.release();
    },
    release() {
      for (const call of all()) call.release();
      kept.clear();
      spare.clear();
    },
  };
}
