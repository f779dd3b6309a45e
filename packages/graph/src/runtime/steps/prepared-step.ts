import type { Numbers } from '../../compile/attention/options.ts';

/** What a step runs on. */
export interface StepContext<T> {
  tensor(value: number): T;
  readonly numbers: Numbers;
  /** Memory of so many bytes for one step; undefined for none. */
  scratch(bytes: number): T | undefined;
}

/** A step of a program that is ready to run. */
export interface PreparedStep<T> {
  /**
   * Whether it is run by the time `run` returns, in order with others, and can be recorded for the caller.
   */
  readonly isRecorded: boolean;
  /** Bytes of `scratch` that it takes, as far as is known before its numbers are. */
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
