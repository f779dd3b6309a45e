import { makeProblem, type RandomProblem } from './random-problem.ts';
import { completeChoices, drawStructures, plainChoice, type StructurePool } from './structures/structures.ts';

/** The problems of a seed, grouped by structure. */
export interface RandomProblems extends StructurePool {
  readonly seed: number;
  readonly count: number;
  /** Problem `number`, 0 to count − 1. */
  problem(number: number): RandomProblem;
}

export interface RandomProblemOptions {
  /** The least number of problems; rounded up to an equal number for each structure. */
  readonly atLeast: number;
  /** Whether the engine supports such a problem. Structures are tried with default numbers. */
  readonly admits?: (problem: RandomProblem) => boolean;
}

/** Random problems in which every pair of values of two options occurs. */
export function randomProblems(seed: number, { atLeast, admits }: RandomProblemOptions): RandomProblems {
  // To make a problem takes far longer than to draw its structure.
  const pool = drawStructures(
    seed,
    admits && (structure => admits(makeProblem(plainChoice(structure), seed, 0))),
  );
  const each = Math.ceil(atLeast / pool.structures.length);
  const choices = completeChoices(pool.structures, each, seed);
  return {
    ...pool,
    seed,
    count: choices.length,
    problem: number => makeProblem(choices[number], seed, number),
  };
}
