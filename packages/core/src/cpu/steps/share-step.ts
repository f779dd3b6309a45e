import type { Kernels } from '../kernels/interface/kernels.ts';
import { type Sharing, sharingOf } from '../team/sharing.ts';
import { taskHost } from '../team/task-host.ts';
import { runAlone, type TaskList, writeTasks } from '../team/tasks.ts';
import type { Team } from '../team/team.ts';
import { WorkerFailure } from '../threads/pool.ts';
import type { Step } from './step.ts';

/**
 * Runs the tasks of a step on the threads of a team. Returns false if a worker failed, and the step is to run
 * again on the calling thread.
 */
export function runShared(
  team: Team,
  kernels: Kernels,
  { isRepeatable }: Step,
  tasks: TaskList,
  { wakes }: Sharing,
): boolean {
  try {
    team.run(kernels, tasks, wakes);
    return true;
  } catch (error) {
    if (isRepeatable && error instanceof WorkerFailure) return false;
    throw error;
  }
}

/**
 * Runs a step on the threads of a team. Returns false if the step is too short, cannot be divided, or is to
 * run again on the calling thread because a worker failed.
 */
export function shareStep(kernels: Kernels, step: Step, team: Team): boolean {
  const sharing = sharingOf(team, step);
  if (!sharing) return false;
  const { memory } = kernels;
  const allocate = (words: number): number => memory.scratch(words).at;
  const tasks = step.tasks(sharing.threads, allocate);
  if (!tasks) return false;
  return runShared(team, kernels, step, writeTasks(tasks, allocate, memory), sharing);
}

/**
 * Runs a step on the threads of a team or, if it is short, on the calling thread. Returns false if the step
 * has no tasks.
 */
export function runStep(kernels: Kernels, step: Step, team: Team): boolean {
  if (shareStep(kernels, step, team)) return true;
  const { memory } = kernels;
  const allocate = (words: number): number => memory.scratch(words).at;
  const tasks = step.tasks(1, allocate);
  if (tasks) runAlone(memory.i32, writeTasks(tasks, allocate, memory), taskHost(kernels));
  return tasks !== null;
}
