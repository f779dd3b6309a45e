/** An option of a suite on the command line: `--name VALUE`. */
export interface SuiteOption {
  /** The placeholder of the value in the usage: `DIR`. */
  readonly value: string;
  readonly meaning: string;
  /** The only allowed values; the first is the default. */
  readonly choices?: readonly string[];
  readonly required?: boolean;
  /** The value is a finite number, or an integer of at least 1. */
  readonly number?: 'any' | 'count';
}
