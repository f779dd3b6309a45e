import type { Row } from '../command/table.ts';

/** An option of a suite on the command line. Without `value` it is a switch. */
export interface SuiteOption {
  readonly value?: string;
  readonly meaning: string;
}

/** Options as given; a switch is `true`. */
export type SuiteOptions = Readonly<Record<string, string | boolean | undefined>>;

/** Something that is measured: a row in the table of suites. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, SuiteOption>>;
  /**
   * Measures, having checked that what is measured is right: rows at the end, or each as soon as it is there,
   * so that it is kept when the run is ended. `progress` hears what goes on.
   * @throws WrongResult before a number of wrong work is reported, and UsageError for an option that makes no
   * sense.
   */
  run(options: SuiteOptions, progress: (text: string) => void): Promise<readonly Row[]> | AsyncIterable<Row>;
}

/** Thrown when a measured result is wrong. */
export class WrongResult extends Error {
  override readonly name: string = 'WrongResult';
}

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}
