/**
 * The items, and all items that they need, in depth-first post-order: each item follows the items that it
 * needs, and otherwise the given order is kept. The function does not recurse, because a chain of items may
 * be longer than the call stack allows.
 * @param needsOf the items that an item needs.
 * @param refuse throws an error for a cycle, in which each item needs the next one, and the last item the
 * first. Callers whose items have no cycles leave the parameter out.
 */
export function postOrder<T>(
  items: Iterable<T>,
  needsOf: (item: T) => readonly T[],
  refuse?: (cycle: readonly T[]) => never,
): T[] {
  const finished = new Set<T>();
  const entered = new Set<T>();
  const open = [...items].reverse();
  for (let item = open.at(-1); item !== undefined; item = open.at(-1)) {
    // An item is finished on its second visit, after the items that it needs.
    if (entered.has(item)) {
      finished.add(item);
      open.pop();
      continue;
    }
    entered.add(item);
    for (const needed of [...needsOf(item)].reverse()) {
      if (finished.has(needed)) continue;
      if (entered.has(needed)) {
        const path = [...entered].filter(other => !finished.has(other));
        refuse?.(path.slice(path.indexOf(needed)));
      }
      open.push(needed);
    }
  }
  return [...finished];
}
