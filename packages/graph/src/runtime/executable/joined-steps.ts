import type { TensorDesc } from '@tilewise/core';
import type { BoundWork, Primitives } from '@tilewise/core/primitive';
import type { PreparedStep } from '../steps/prepared-step.ts';
import { noWork } from '../steps/recurring-work.ts';

/** The joined work of a step and those after it. */
export interface JoinedSteps {
  readonly work: BoundWork;
  /** The index of the first step that the work does not contain. */
  readonly end: number;
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
    const works = steps.slice(first, end).flatMap(({ work }) => (work && work !== noWork ? work : []));
    const work = works[0] && join(works);
    if (work) joined[first] = { work, end };
  }
  return joined;
}
