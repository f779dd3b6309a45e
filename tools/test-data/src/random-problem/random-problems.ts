import { makeProblem, type RandomProblem } from './random-problem.ts';
import { completeChoices, drawStructures, plainChoice, type StructurePool } from './structures/structures.ts';

/** The problems of a seed, those of one structure after each other. */
export interface RandomProblems extends StructurePool {
  readonly seed: number;
  readonly count: number;
  /** Problem `number`, 0 to count − 1. */
  problem(number: number): RandomProblem;
}

export interface RandomProblemOptions {
  /** At least so many; rounded up to as many for each structure. */
  readonly atLeast: number;
  /** Whether the engine has such a problem. Structures are tried with plain numbers. */
  readonly admits?: (problem: RandomProblem) => boolean;
}

/** Random problems in which every two values of two options meet. */
export function randomProblems(
  seed: number,
  { atLeast, admits = () => true }: RandomProblemOptions,
): RandomProblems {
  const pool = drawStructures(seed, structure => admits(makeProblem(plainChoice(structure), seed, 0)));
  const each = Math.ceil(atLeast / pool.structures.length);
  const choices = completeChoices(pool.structures, each, seed);
  return {
    ...pool,
    seed,
    count: choices.length,
    problem: number => makeProblem(choices[number], seed, number),
  };
}
