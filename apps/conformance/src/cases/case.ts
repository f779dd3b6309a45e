export type CaseStatus = 'pass' | 'fail' | 'unsupported' | 'skipped';

/** The result of running one case. */
export interface Outcome {
  readonly status: 'pass' | 'fail' | 'unsupported';
  /**
   * The error, in the unit of the suite. If the case passed, it is at most the suite's limit; null if nothing
   * was compared.
   */
  readonly error: number | null;
  /** A message for people: why the case did not pass, or where the error of a pass was largest. */
  readonly reason: string | null;
}

/** One test case: a name, which `--filter` matches, and a function that runs the case. */
export interface ConformanceCase {
  readonly name: string;
  /** Why an option of the suite excludes the case. */
  readonly skip?: string;
  run(): Promise<Outcome>;
}

/** One line of the report. `ms` is wall-clock time. */
export interface CaseResult {
  readonly case: string;
  readonly status: CaseStatus;
  readonly error: number | null;
  readonly reason: string | null;
  readonly ms: number;
}

export type Counts = Readonly<Record<CaseStatus, number>>;

export const noCases: Counts = { pass: 0, fail: 0, unsupported: 0, skipped: 0 };
