import { elementCount } from '@tilewise/core';
import { ownerOf, type ProgramValue, type Step } from '../../../ir/program/program.ts';
import { touched } from '../../memory-plan.ts';
import { isPlaced, type PlacedStep } from '../placed-step.ts';

/** Steps over one domain that will run as one step. */
export interface Group {
  readonly members: PlacedStep[];
  /** The place in the program where all members run: that of its last member, or of an earlier one. */
  place: number;
}

/**
 * Groups steps that can run at one place. A step joins a group at its own place as long as nothing has read
 * the group's results. Later it can only join at the group's place, if its inputs exist there.
 * @param canJoin whether a step and the members of a group can be one step.
 */
export function groupSteps(
  steps: readonly Step[],
  values: readonly ProgramValue[],
  canJoin: (step: PlacedStep, members: readonly PlacedStep[]) => boolean,
): readonly Group[] {
  const groups: Group[] = [];
  /** The groups whose results nothing has read. */
  const unread = new Set<Group>();
  /** The writers of each memory, by owner: groups, and the places of other steps. */
  const writers = new Map<number, { readonly place: number }[]>();
  /** The owners that earlier steps read or write. */
  const seen = new Set<number>();
  const owner = (value: number): number => ownerOf(value, values);
  const writersOf = (memory: number): readonly { readonly place: number }[] => writers.get(memory) ?? [];

  const lastReads = new Map<number, number>();
  for (const [place, step] of steps.entries())
    for (const value of touched(step)) lastReads.set(owner(value), place);

  /**
   * Whether a result may be written at an earlier place. A caller can bind the memory of an input to a result
   * of the same size, so no step from the earlier place on may read such an input.
   */
  function canWriteAt(earlier: number, place: number, result: number): boolean {
    if (seen.has(result)) return false;
    if (values[result].kind === 'temporary') return true;
    const { dtype, shape } = values[result].desc;
    return [...lastReads].every(([value, last]) => {
      const { kind, desc } = values[value];
      const isAlike = desc.dtype === dtype && elementCount(desc.shape) === elementCount(shape);
      return kind !== 'input' || !isAlike || last < earlier || last > place;
    });
  }

  /** The group that wrote the last input of a step, if the step can run at its place. */
  function earlierGroup({ inputs, outputs: [output] }: PlacedStep, place: number): Group[] {
    const written = inputs.flatMap(value => writersOf(owner(value)));
    const latest = Math.max(-1, ...written.map(writer => writer.place));
    const found = groups.find(group => group.place === latest && written.includes(group));
    return found && canWriteAt(latest, place, owner(output)) ? [found] : [];
  }

  for (const [place, step] of steps.entries()) {
    const read = touched(step).map(owner);
    const joined = isPlaced(step)
      ? [...[...unread].reverse(), ...earlierGroup(step, place)].find(({ members }) => canJoin(step, members))
      : undefined;
    for (const group of unread) {
      const isRead = group.members.some(({ outputs }) => read.includes(owner(outputs[0])));
      if (group !== joined && isRead) unread.delete(group);
    }
    for (const value of read) seen.add(value);
    const group: Group | null = isPlaced(step) ? (joined ?? { members: [], place }) : null;
    for (const value of step.kind === 'primitive' ? step.outputs.map(owner) : read)
      writers.set(value, [...writersOf(value), group ?? { place }]);
    if (!group || !isPlaced(step)) continue;
    group.members.push(step);
    if (!joined) {
      groups.push(group);
      unread.add(group);
    } else if (unread.has(joined)) joined.place = place;
  }
  return groups;
}
