import type { Team } from './team.ts';

/** The sizes of a step from which sharing saves time: if workers are awake, and if they must be woken. */
export interface SharedFrom {
  readonly awake: number;
  readonly asleep: number;
}

/** The threads that share a step, and whether the step wakes workers that sleep. */
export interface Sharing {
  readonly threads: number;
  readonly wakes: boolean;
}

/**
 * How a team shares a step of some size; null if the step takes the calling thread less time alone, or if
 * there are no workers yet. Short steps start no workers.
 */
export function sharingOf(
  team: Team,
  { size, sharedFrom: { awake, asleep } }: { readonly size: number; readonly sharedFrom: SharedFrom },
): Sharing | null {
  const wakes = size >= asleep;
  if (size < awake || (!wakes && !team.isAwake)) return null;
  const { threads } = team;
  return threads === 1 ? null : { threads, wakes };
}
