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
  /** Bytes of `scratch` that the step needs, as far as they do not depend on numbers. */
  readonly workspaceBytes: number;
  /** Values whose numbers must be known on the host before it runs. */
  readonly numbers: readonly number[];
  /**
   * Readies what depends on the numbers; false, and nothing is readied, when the numbers make something else
   * of the step.
   * @param isKept whether it stays until `release`: a caller may submit what is recorded at any time.
   */
  ready?(numbers: Numbers, isKept: boolean): boolean;
  /**
   * Runs the step, at once where it is recorded; false, and nothing is run, when the numbers make something
   * else of the step.
   */
  run(context: StepContext<T>): Promise<boolean> | boolean;
  release(): void;
}
