import type { BoundWork } from '@tilewise/core/primitive';

/** Work that is bound to its tensors when a run has the tensors of the last run. */
export interface RecurringWork<T> {
  /**
   * The bound work; null if the tensors are new, or if the work cannot be bound to them.
   * @param isSame whether the tensors, and everything else that the work depends on, are as in the last call.
   * @param tensor returns the tensor of a value.
   */
  find(isSame: boolean, tensor: (value: number) => T): BoundWork | null;
  release(): void;
}

/** Work on the tensors of some values of a program; `bind` gets them in the order of the values. */
export function recurringWork<T>(
  values: readonly number[],
  bind: (tensors: readonly T[]) => BoundWork | null,
): RecurringWork<T> {
  let isBound = false;
  let work: BoundWork | null = null;

  function release(): void {
    work?.release();
    work = null;
    isBound = false;
  }

  return {
    find(isSame, tensor) {
      if (!isSame) release();
      else if (!isBound) {
        work = bind(values.map(tensor));
        isBound = true;
      }
      return work;
    },
    release,
  };
}
