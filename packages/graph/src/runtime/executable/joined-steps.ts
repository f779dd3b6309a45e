import type { TensorDesc } from '@tilewise/core';
import type { BoundWork, Primitives } from '@tilewise/core/primitive';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { noWork } from '../steps/recurring-work.ts';

/** The joined work of a step and of some steps after it. */
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
  if (!join) return joined;
  let first = 0;
  while (first < steps.length) {
    // The step at `end` has no bound work.
    let end = first;
    while (steps[end]?.work) end++;
    const works = steps.slice(first, end).flatMap(({ work }) => (work && work !== noWork ? work : []));
    const work = first < end && join(works);
    if (work) joined[first] = { work, last: end - 1 };
    first = end + 1;
  }
  return joined;
}
