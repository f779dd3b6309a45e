/** Finds the name that a misspelt one probably stands for: see `nearestName`. */
export type NearestName = (wrong: string, known: readonly string[]) => string | undefined;

/**
 * Returns the known name that a wrong name probably stands for: a known name within the wrong name (`causal`
 * for `is_causal`), a known name that begins or ends with the wrong name, or a known name that differs by a
 * typing error (`causual`). Case and underscores do not count.
 */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = wrong.length / 2;
  for (const name of known) {
    const distance = distanceOf(plain(wrong), plain(name), least);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/**
 * The number of letters to add, drop or replace. A known name `b` within `a`, or one that begins or ends with
 * `a`, counts as nearer than any typing error; `out` is not meant as `dropoutMask`. If the lengths differ by
 * `least` or more, the distance is not counted: a wrong name may be the text of a whole file.
 */
function distanceOf(a: string, b: string, least: number): number {
  const difference = Math.abs(a.length - b.length);
  if (Math.min(a.length, b.length) > 2 && (a.includes(b) || b.startsWith(a) || b.endsWith(a)))
    return difference / 100;
  if (difference >= least) return least;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}
