/** Reproducible random decisions. */
export interface Random {
  /** In [0, 1). */
  uniform(): number;
  /** In [low, high], both included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Standard normal, cut off at ±4. */
  normal(): number;
}

/**
 * An independent source for each list of keys, so that the draws of one part of a problem do not change those
 * of the others.
 */
export function createRandom(...keys: readonly (number | string)[]): Random {
  let state = hash(keys.join('/'));
  // Mulberry32: 32 bits of state and well mixed, which is enough to choose test inputs.
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number): number => low + Math.floor(uniform() * (high - low + 1));
  return {
    uniform,
    integer,
    chance: probability => uniform() < probability,
    pick: list => list[integer(0, list.length - 1)],
    normal: () => {
      const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
      return Math.max(-4, Math.min(4, radius * Math.cos(2 * Math.PI * uniform())));
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) h = Math.imul(h ^ text.charCodeAt(n), 0x01000193);
  return h;
}
