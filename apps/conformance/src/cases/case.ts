export type CaseStatus = 'pass' | 'fail' | 'unsupported' | 'skipped';

/** The result of running one case. */
export interface Outcome {
  readonly status: 'pass' | 'fail' | 'unsupported';
  /**
   * How wrong it was, in the unit of the suite; at most the suite's limit when it passed, null when nothing
   * was compared.
   */
  readonly error: number | null;
  /** For people: why it is not a pass, or where a pass was worst. */
  readonly reason: string | null;
}

/** One test case: a name that `--filter` looks at, and how to run it. */
export interface ConformanceCase {
  readonly name: string;
  /** Why it is not to be run, by an option of its suite. */
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
