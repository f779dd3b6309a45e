/** The tensors of some values in the last run. */
export interface LastTensors<T> {
  /** Stores the tensors of this run; returns whether the last run had the same. */
  areSame(tensor: (value: number) => T): boolean;
}

/** Compares the tensors of some values from run to run. */
export function lastTensors<T>(values: readonly number[]): LastTensors<T> {
  const last: T[] = [];
  return {
    areSame(tensor) {
      let areSame = last.length === values.length;
      for (let n = 0; n < values.length; n++) {
        const own = tensor(values[n]);
        if (last[n] === own) continue;
        last[n] = own;
        areSame = false;
      }
      return areSame;
    },
  };
}
