import type { BackwardProblem } from '../problem/problem.ts';
import type { Rule } from './rule.ts';

/** The gradient without which a largest value is not known. */
const sources = {
  amaxDQ: ['dq'],
  amaxDK: ['dk'],
  amaxDV: ['dv'],
  amaxDP: ['dq', 'dk'],
} as const;

/** Largest values are results of the FP8 contract, and backward measures only what it computes. */
export const amaxRules: readonly Rule<BackwardProblem>[] = (
  ['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const
).flatMap((name): Rule<BackwardProblem>[] => [
  {
    argument: `outputs.${name}`,
    kind: 'argument',
    broken: ({ forward, outputs }) =>
      outputs[name] && forward.fp8 === null ? 'is a result of the FP8 contract: give fp8 too' : null,
  },
  {
    argument: `outputs.${name}`,
    kind: 'argument',
    broken: ({ outputs, gradients }) =>
      outputs[name] && !sources[name].some(gradient => gradients.includes(gradient))
        ? `needs ${sources[name].join(' or ')} among the gradients, got ${gradients.join(', ')}`
        : null,
  },
]);
