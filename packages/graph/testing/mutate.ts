import type { Choices } from './random/choices.ts';

/** Values that a file or a caller may have in place of any other value. */
const hostile: readonly unknown[] = [
  ...[null, undefined, true, '', 'zzz', '__proto__', -1, 0, 1.5, -0, 2 ** 31, 2 ** 53, 1e9, 1e308],
  ...[Number.NaN, Number.POSITIVE_INFINITY, -(2 ** 63), [], {}, [null], [1e9, 1e9], [-5, 3], [1.5], { a: 1 }],
];

/** A copy of plain data with one change: a value or key is replaced, removed, doubled or renamed. */
export function mutated(data: unknown, choose: Choices): unknown {
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const copy = structuredClone({ data });
  const open: object[] = [copy];
  for (const holder of open) {
    for (const [key, value] of Object.entries(holder)) {
      if (holder !== copy) places.push([holder as Record<string, unknown>, key]);
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  const [holder, key] = places[choose.below(places.length)];
  const value = holder[key];
  switch (choose.below(6)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 1:
      if (Array.isArray(holder)) holder.push(value);
      else holder[`${key}s`] = value;
      break;
    case 2:
      holder[key] = typeof value === 'number' ? value + [-1, 1, 0.5, -8][choose.below(4)] : [value];
      break;
    default:
      holder[key] = hostile[choose.below(hostile.length)];
  }
  return copy.data;
}
