import type { Machine } from './machine.ts';
import { parseProgram } from './program/parse.ts';
import type { Program } from './program/program.ts';
import { type Run, runProgram } from './run.ts';

/** Something that a solution must do. */
export type Demand =
  | { readonly kind: 'stored'; readonly cell: string; readonly value: string }
  | { readonly kind: 'cycles'; readonly most: number }
  | { readonly kind: 'softmax' }
  /** The results follow a formula, which is written alike in every language. */
  | { readonly kind: 'computes'; readonly formula: string }
  /** Reads of particular arrays. */
  | { readonly kind: 'reads-of'; readonly arrays: string; readonly most: number }
  | { readonly kind: 'reads'; readonly most: number }
  | { readonly kind: 'writes'; readonly most: number }
  | { readonly kind: 'hidden'; readonly inputs: number };

/** What was found instead of what the demand asks for. */
export type Finding =
  | { readonly kind: 'nothing'; readonly cell: string }
  | { readonly kind: 'holds'; readonly cell: string; readonly value: string; readonly wanted: string }
  | { readonly kind: 'count'; readonly count: number }
  /** The finding on a hidden input; null if the program stops with an error there. */
  | { readonly kind: 'on-input'; readonly input: string; readonly found: Finding | null };

/** A demand, and whether a run meets it. */
export interface Criterion {
  readonly demand: Demand;
  readonly met: boolean;
  readonly found?: Finding;
}

/** An input that the visitor's program is tried on but that is not shown before the program fails on it. */
export interface HiddenInput<V> {
  /** The input as text, such as `x = (101, 102)`. */
  readonly label: string;
  readonly machine: Machine<V>;
}

/**
 * An exercise on a machine; its texts are in the catalogue under its id. `V` is the machine's type of values.
 */
export interface Problem<V, Id extends string = string> {
  readonly id: Id;
  readonly registers: number;
  /** A program that solves it, shown when asked for. */
  readonly solution: string;
  /** The number that `n` must be a multiple of; 1 by default. */
  readonly multipleOf?: number;
  readonly criteria: (run: Run<V>) => readonly Criterion[];
  /**
   * Further inputs on which a solution must meet the criteria, so that a program that is right by luck fails
   * on one of them.
   */
  readonly hidden?: readonly HiddenInput<V>[];
}

/** A program as written, its run on the visible input, and what is still missing. */
export interface Assessment<V> {
  readonly program: Program;
  readonly run: Run<V>;
  readonly criteria: readonly Criterion[];
  readonly solved: boolean;
}

/**
 * Parses a program, runs it, and checks it: on the visible input, and if that is right, on the hidden ones.
 */
export function assess<V>(problem: Problem<V>, source: string, machine: Machine<V>): Assessment<V> {
  const program = parseProgram(source, machine);
  const run = runProgram(program, machine);
  const visible = problem.criteria(run);
  const ran = program.errors.length === 0 && run.error === null;
  const right = ran && visible.every(({ met }) => met);
  const criteria = [...visible, ...hiddenCriterion(problem, right ? source : null)];
  return { program, run, criteria, solved: right && criteria.every(({ met }) => met) };
}

/**
 * Whether a program meets all demands on the hidden inputs, if there are any; `null` stands for a program
 * that was not tried.
 */
function hiddenCriterion<V>(problem: Problem<V>, source: string | null): Criterion[] {
  const { hidden = [] } = problem;
  if (hidden.length === 0) return [];
  const demand = { kind: 'hidden', inputs: hidden.length } as const;
  if (source === null) return [{ demand, met: false }];
  for (const { label, machine } of hidden) {
    const program = parseProgram(source, machine);
    const run = runProgram(program, machine);
    const stopped = program.errors.length > 0 || run.error !== null;
    const missed = problem.criteria(run).find(({ met }) => !met);
    if (stopped || missed)
      return [
        {
          demand,
          met: false,
          found: { kind: 'on-input', input: label, found: (!stopped && missed?.found) || null },
        },
      ];
  }
  return [{ demand, met: true }];
}
