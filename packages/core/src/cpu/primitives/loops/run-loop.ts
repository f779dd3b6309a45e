import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { CompiledLoop } from '../../loops/link-loop.ts';
import type { LoopPlan } from '../../loops/plan/plan-loop.ts';
import { shareStep } from '../../steps/share-step.ts';
import type { Team } from '../../team/team.ts';
import { loopStep } from './loop-step.ts';
import { nextRun, wholePart, writeRunNumbers } from './run-numbers.ts';

/**
 * Runs a planned loop over its whole domain, on the threads of a team if the loop is long enough.
 * @param output the address of the output's first element; `inputs` has those of the inputs.
 */
export function runLoop(
  plan: LoopPlan,
  loop: CompiledLoop,
  kernels: Kernels,
  output: number,
  inputs: ArrayLike<number>,
  team: Team | null = null,
): void {
  if (plan.shape.includes(0) || (team && shareStep(kernels, loopStep(plan, kernels, output, inputs), team)))
    return;
  const numbers = kernels.memory.scratch(plan.words).at;
  const { i32 } = kernels.memory;
  writeRunNumbers(i32, numbers >>> 2, plan, output, inputs, wholePart(plan));
  do loop(numbers);
  while (nextRun(i32, numbers >>> 2, plan));
}
