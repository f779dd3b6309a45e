import type { Kernels } from '../kernels/interface/kernels.ts';
import { sharingOf } from '../team/sharing.ts';
import { writeTasks } from '../team/tasks.ts';
import type { Team } from '../team/team.ts';
import type { Step } from './step.ts';

/**
 * Runs a step on the threads of a team. Returns false, and runs nothing, if the step is too short or cannot
 * be divided.
 */
export function shareStep(kernels: Kernels, step: Step, team: Team): boolean {
  const sharing = sharingOf(team, step);
  if (!sharing) return false;
  const { memory } = kernels;
  const allocate = (words: number): number => memory.scratch(words).at;
  const tasks = step.tasks(sharing.threads, allocate);
  if (!tasks) return false;
  team.run(kernels, writeTasks(tasks, allocate, memory), sharing.wakes);
  return true;
}
