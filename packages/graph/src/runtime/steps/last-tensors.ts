import { LastObject } from '../bindings/last-object.ts';

/** The tensors of some values in the last run. */
export interface LastTensors<T> {
  /** Stores the tensors of this run; returns whether the last run had the same. */
  areSame(tensor: (value: number) => T): boolean;
  /** Lets go of the tensors. */
  release(): void;
}

/** Compares the tensors of some values from run to run. */
export function lastTensors<T extends object>(values: readonly number[]): LastTensors<T> {
  const last = values.map(() => new LastObject<T>());
  return {
    areSame(tensor) {
      // All are read before any is stored, because reading may fail.
      const now = values.map(tensor);
      let areSame = true;
      for (let n = 0; n < now.length; n++) {
        if (last[n].is(now[n])) continue;
        last[n].set(now[n]);
        areSame = false;
      }
      return areSame;
    },
    release() {
      for (const own of last) own.release();
    },
  };
}
