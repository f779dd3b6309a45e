import type { AttentionProblem, BackwardProblem } from '../problem/problem.ts';
import { backwardRules } from './backward-rules.ts';
import { forwardRules } from './forward-rules.ts';
import { checkBackwardProblem, checkForwardProblem } from './problem-schema.ts';
import { checkRules } from './rule.ts';

/**
 * Checks the fields of a problem of either kind, and the rules that calls check too. `validate` and
 * `validateBackward` also check the mods, and that the fields of the problem agree with each other.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, as `validate`.
 */
export function checkProblem(problem: unknown): asserts problem is AttentionProblem | BackwardProblem {
  let forward = problem;
  if (Object(problem).forward) {
    checkBackwardProblem(problem);
    checkRules(backwardRules, problem);
    forward = problem.forward;
  }
  checkForwardProblem(forward);
  checkRules(forwardRules, forward);
}
