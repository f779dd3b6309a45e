import type { Run } from './run.ts';

/** One thing that a solution must be, and whether it is. */
export interface Criterion {
  readonly label: string;
  readonly met: boolean;
  /** What was found, when not met. */
  readonly found?: string;
}

/** An exercise on a machine. `V` is the machine's type of values. */
export interface Problem<V> {
  readonly id: string;
  readonly title: string;
  readonly task: string;
  readonly hints: readonly string[];
  /** A program that solves it, shown when asked for. */
  readonly solution: string;
  readonly criteria: (run: Run<V>) => readonly Criterion[];
}

/** Solved: the program ran to its end and meets everything. */
export function isSolved<V>(problem: Problem<V>, run: Run<V>): boolean {
  return run.error === null && problem.criteria(run).every(({ met }) => met);
}
