import { emptyState, type Merge, mergeStates, type SoftmaxState } from './softmax-state.ts';

/** Tiles that have been merged into one state, by their numbers in the order of the merges. */
export type Group = readonly number[];

/** The groups merged by hand, and the two parts of the last merge. */
export interface Merging {
  readonly groups: readonly Group[];
  readonly last: { readonly a: Group; readonly b: Group } | null;
}

/** Every tile in its own group. */
export function unmerged(tiles: number): Merging {
  return { groups: Array.from({ length: tiles }, (_, t) => [t]), last: null };
}

/** Merges two groups; the new group comes last. */
export function mergeGroups({ groups }: Merging, first: number, second: number): Merging {
  const [a, b] = [groups[first] ?? [], groups[second] ?? []];
  const others = groups.filter((_, g) => g !== first && g !== second);
  return { groups: [...others, [...a, ...b]], last: { a, b } };
}

/** The state of a group of tiles. */
export function groupState(group: Group, tiles: readonly SoftmaxState[]): SoftmaxState {
  const states = group.map(t => tiles[t] ?? emptyState(0));
  const [first = emptyState(0), ...others] = states;
  return others.reduce((state, tile) => mergeStates(state, tile).state, first);
}

/** The last merge, with its factors. */
export function lastMerge({ last }: Merging, tiles: readonly SoftmaxState[]): Merge | null {
  return last && mergeStates(groupState(last.a, tiles), groupState(last.b, tiles));
}

/**
 * The merges as the address stores them: groups separated by `-`, the parts of the last merge by `.`:
 * `3-02.1`.
 */
export function writeMerging({ groups, last }: Merging): string {
  return groups
    .map((group, g) =>
      last && g === groups.length - 1 ? `${last.a.join('')}.${last.b.join('')}` : group.join(''),
    )
    .join('-');
}

/**
 * Parses the output of `writeMerging`; a text that does not name each tile exactly once counts as unmerged.
 */
export function readMerging(text: string, tiles: number): Merging {
  const digits = [...text.replace(/[-.]/g, '')].sort().join('');
  const all = Array.from({ length: tiles }, (_, t) => t).join('');
  const parts = text.split('-').map(part => part.split('.').map(tile => [...tile].map(Number)));
  const wellFormed = parts.every(
    (part, g) => part.length === 1 || (part.length === 2 && g === parts.length - 1),
  );
  if (digits !== all || !wellFormed || parts.flat().some(group => group.length === 0)) return unmerged(tiles);
  const [a, b] = parts.at(-1) ?? [];
  return { groups: parts.map(part => part.flat()), last: a && b ? { a, b } : null };
}
