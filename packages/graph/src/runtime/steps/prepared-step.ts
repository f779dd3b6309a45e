import type { BoundWork } from '@tilewise/core/primitive';
import type { Numbers } from '../../compile/attention/options.ts';

/** The tensors and numbers of a run. */
export interface StepContext<T> {
  tensor(value: number): T;
  readonly numbers: Numbers;
  /** Scratch memory for one step; undefined for 0 bytes. */
  scratch(bytes: number): T | undefined;
}

/** A prepared step of a program. */
export interface PreparedStep<T> {
  /**
   * Whether `run` completes in order before it returns, and can be recorded for the caller.
   */
  readonly isRecorded: boolean;
  /** The bytes of `scratch` that the step needs, as far as they do not depend on numbers. */
  readonly workspaceBytes: number;
  /** The values of which `run` is told whether their tensors are the same. */
  readonly values: readonly number[];
  /** The values whose numbers the host must know before the step runs. */
  readonly numbers: readonly number[];
  /**
   * Prepares everything that depends on the numbers. Returns false, without preparing anything, if the step
   * with these numbers is not the recognised attention.
   * @param isKept whether the prepared call is kept until `release`, because a caller may submit recorded
   * work at any time.
   */
  ready?(numbers: Numbers, isKept: boolean): boolean;
  /**
   * Runs the step, immediately if `isRecorded`. Returns false, without running anything, if the step with
   * these numbers is not the recognised attention.
   * @param isSame whether the tensors of `values` are those of the step's last run.
   */
  run(context: StepContext<T>, isSame: boolean): Promise<boolean> | boolean;
  /**
   * The whole step as work that is bound to the tensors of its last run, which does the same as `run` while
   * the tensors of `values` are the same; null if there is none.
   */
  readonly work?: BoundWork | null;
  /** Drops work that is bound to tensors. */
  unbind?(): void;
  release(): void;
}
