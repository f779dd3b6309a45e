import type { TensorDesc } from '@tilewise/core';
import type { BoundWork, Primitives } from '@tilewise/core/primitive';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { noWork } from '../steps/recurring-work.ts';

/** The joined work of a step and those after it. */
export interface JoinedSteps {
  readonly work: BoundWork;
  /** The index of the last step of the work. */
  readonly last: number;
}

/**
 * Joins the bound works of neighbouring steps.
 * @returns the joined works, by the index of their first step; empty if the engine joins none.
 */
export function joinSteps<T extends TensorDesc>(
  { join }: Primitives<T>,
  steps: readonly PreparedStep<T>[],
): readonly (JoinedSteps | undefined)[] {
  const joined: JoinedSteps[] = [];
  for (let first = 0, end = 0; join && end < steps.length; first = ++end) {
    while (steps[end]?.work) end++;
    const bound = steps.slice(first, end).map(({ work }) => work as BoundWork);
    const work = first < end && join(bound.filter(own => own !== noWork));
    if (work) joined[first] = { work, last: end - 1 };
  }
  return joined;
}
