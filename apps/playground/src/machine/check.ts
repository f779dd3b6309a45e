import type { Run } from './run.ts';

/** Something that a solution must do. */
export type Demand =
  | { readonly kind: 'stored'; readonly cell: string; readonly value: string }
  | { readonly kind: 'cycles'; readonly most: number }
  | { readonly kind: 'softmax' }
  | { readonly kind: 'reads'; readonly most: number }
  | { readonly kind: 'writes'; readonly most: number };

/** What was found instead. */
export type Finding =
  | { readonly kind: 'nothing'; readonly cell: string }
  | { readonly kind: 'holds'; readonly cell: string; readonly value: string; readonly wanted: string }
  | { readonly kind: 'count'; readonly count: number };

/** A demand, and whether a run meets it. */
export interface Criterion {
  readonly demand: Demand;
  readonly met: boolean;
  readonly found?: Finding;
}

/** An exercise on a machine, whose words are in the catalogue under its id. `V` is the machine's type of values. */
export interface Problem<V, Id extends string = string> {
  readonly id: Id;
  readonly registers: number;
  /** A program that solves it, shown when asked for. */
  readonly solution: string;
  /** Pieces of the solution, one beside each hint. */
  readonly pieces?: readonly string[];
  readonly criteria: (run: Run<V>) => readonly Criterion[];
}

/** Solved: the program ran to its end and meets everything. */
export function isSolved<V>(problem: Problem<V>, run: Run<V>): boolean {
  return run.error === null && problem.criteria(run).every(({ met }) => met);
}
