/** Largest magnitudes by name, for FP8 problems. */
export type Amax = Readonly<Record<string, number>>;

/** The largest magnitudes over all threads. */
export function joinAmax(all: readonly Amax[]): Amax {
  const joined: Record<string, number> = {};
  for (const amax of all) {
    for (const [name, value] of Object.entries(amax)) joined[name] = Math.max(joined[name] ?? 0, value);
  }
  return joined;
}
