import type { Row } from '../command/table.ts';

/** An option of a suite on the command line. Without `value`, the option is a switch. */
export interface SuiteOption {
  readonly value?: string;
  readonly meaning: string;
}

/** The given options; a switch is `true`. */
export type SuiteOptions = Readonly<Record<string, string | boolean | undefined>>;

/** A kind of measurement: a row in the table of suites. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, SuiteOption>>;
  /**
   * Checks that the measured results are right, and measures. Returns rows at the end, or yields each as soon
   * as it is there, so that rows are not lost when the run is ended. `progress` gets messages about the
   * current step.
   * @throws WrongResult before a number of wrong work is reported, and UsageError for an option that makes no
   * sense.
   */
  run(options: SuiteOptions, progress: (text: string) => void): Promise<readonly Row[]> | AsyncIterable<Row>;
}

/** Thrown if a measured result is wrong. */
export class WrongResult extends Error {
  override readonly name: string = 'WrongResult';
}

/** Thrown if the command line cannot be understood. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}
