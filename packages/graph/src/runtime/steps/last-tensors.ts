/** The tensors of some values in the last run. */
export interface LastTensors<T> {
  /** Stores the tensors of this run; returns whether the last run had the same. */
  areSame(tensor: (value: number) => T): boolean;
}

/** Compares the tensors of some values from run to run, without keeping the tensors alive. */
export function lastTensors<T extends object>(values: readonly number[]): LastTensors<T> {
  let last: readonly WeakRef<T>[] = [];
  return {
    areSame(tensor) {
      // All are read before any is stored, because reading may fail.
      const now = values.map(tensor);
      const areSame = last.length === now.length && now.every((own, n) => last[n].deref() === own);
      if (!areSame) last = now.map(own => new WeakRef(own));
      return areSame;
    },
  };
}
