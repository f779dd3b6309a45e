import type { ConformanceCase } from './cases/case.ts';

/** An option of a suite on the command line: `--name VALUE`. */
export interface SuiteOption {
  /** The placeholder of the value in the usage: `DIR`. */
  readonly value: string;
  readonly meaning: string;
  /** The only values allowed, the first one being the default. */
  readonly choices?: readonly string[];
  readonly required?: boolean;
  /** The value is a finite number, or a whole one from 1 on. */
  readonly number?: 'any' | 'count';
}

/** A suite that is ready to run. */
export interface OpenSuite {
  readonly cases: readonly ConformanceCase[];
  /** Frees what the cases use, such as a GPU device. */
  close(): void;
}

/** A kind of test data and how to run it: a row in the table of suites. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  /** By name, without the dashes. `--filter`, `--json` and `--jobs` belong to every suite. */
  readonly options: Readonly<Record<string, SuiteOption>>;
  /** Whether cases run side by side if nobody says otherwise: none takes much of the memory. */
  readonly sideBySide?: boolean;
  /**
   * Finds the cases that the options ask for. Choices are checked and defaults filled.
   * @throws SetupError when there is no data where an option says that it is, or no engine.
   */
  open(options: Readonly<Record<string, string>>): Promise<OpenSuite>;
}

/** A suite cannot start: its data is not there or is no data, or its engine cannot be opened. */
export class SetupError extends Error {
  override readonly name: string = 'SetupError';
}
