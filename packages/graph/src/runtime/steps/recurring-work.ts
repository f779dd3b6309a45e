import type { BoundWork } from '@tilewise/core/primitive';

/** Work that is bound to its tensors when a run has the tensors of the last run. */
export interface RecurringWork<T> {
  /** The work that is bound to the tensors of the last run; null if there is none. */
  readonly work: BoundWork | null;
  /**
   * The bound work; null if the tensors are new, or if the work cannot be bound to them.
   * @param isSame whether the tensors, and everything else that the work depends on, are as in the last call.
   * @param tensor returns the tensor of a value.
   * @param workspace the memory of the run. Bound work keeps the workspace that it was bound with, which must
   * exist until `release`.
   */
  find(isSame: boolean, tensor: (value: number) => T, workspace: T | undefined): BoundWork | null;
  release(): void;
}

/** The work of a step that has nothing to do, such as a copy of a tensor to itself. */
export const noWork: BoundWork = { run: () => {}, release: () => {} };

/** Work that `bind` binds to the tensors of the last run, which it gets by the values of a program. */
export function recurringWork<T>(
  bind: (tensor: (value: number) => T, workspace: T | undefined) => BoundWork | null | undefined,
): RecurringWork<T> {
  let isBound = false;
  let work: BoundWork | null = null;

  function release(): void {
    work?.release();
    work = null;
    isBound = false;
  }

  return {
    get work() {
      return work;
    },
    find(isSame, tensor, workspace) {
      if (!isSame) release();
      else if (!isBound) {
        work = bind(tensor, workspace) ?? null;
        isBound = true;
      }
      return work;
    },
    release,
  };
}
