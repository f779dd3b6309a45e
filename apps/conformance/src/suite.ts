import type { ConformanceCase } from './cases/case.ts';
import type { SuiteOption } from './suite-option.ts';

/** A suite that is ready to run. */
export interface OpenSuite {
  readonly cases: readonly ConformanceCase[];
  /** Frees the resources of the cases, such as a GPU device. */
  close(): void;
}

/** A kind of test data and how to run it: a row in the table of suites. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  /** The options by name, without the dashes. Every suite also has `--filter`, `--json` and `--jobs`. */
  readonly options: Readonly<Record<string, SuiteOption>>;
  /** Whether cases run side by side by default; if so, none may take much of the memory. */
  readonly sideBySide?: boolean;
  /**
   * Finds the cases that the options ask for. Choices have been checked and defaults filled in.
   * @throws SetupError when there is no data where an option says that it is, or no engine.
   */
  open(options: Readonly<Record<string, string>>): Promise<OpenSuite>;
}

/** A suite cannot start: its data is missing or unreadable, or its engine cannot be opened. */
export class SetupError extends Error {
  override readonly name: string = 'SetupError';
}
