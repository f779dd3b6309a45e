/** What a step runs on. */
export interface StepContext<T> {
  tensor(value: number): T;
  /** The numbers of a small value that is listed in `numbers` of the step. */
  numbers(value: number): Float64Array;
  /** Memory of so many bytes for one step; undefined for none. */
  scratch(bytes: number): T | undefined;
}

/** A step of a program that is ready to run. */
export interface PreparedStep<T> {
  /** Whether it is run by the time `run` returns, in order with others, and can be recorded for the caller. */
  readonly isRecorded: boolean;
  /** Bytes of `scratch` that it takes, as far as is known before its numbers are. */
  readonly workspaceBytes: number;
  /** Values whose numbers must be known on the host before it runs. */
  readonly numbers: readonly number[];
  /** Gives a promise where it is not recorded. */
  run(context: StepContext<T>): Promise<void> | void;
  release(): void;
}
