import type { Row } from './table.ts';

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
   * Checks that the measured results are right, and measures. Returns all rows at the end, or yields each row
   * when it is complete, so that no row is lost if the run is ended early. `progress` gets messages about the
   * current step.
   * @throws WrongResult instead of the time of a wrong result; UsageError for an invalid option.
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
