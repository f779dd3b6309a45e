/**
 * Items and what they need, in depth-first post-order: each item after those that it needs, and otherwise in
 * the given order. Does not recurse, because a chain may be longer than the call stack allows.
 * @param needsOf the items that an item needs.
 * @param refuse throws an error for items of which each needs the next, and the last the first. Needed unless
 * the items are known to have no cycle.
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
