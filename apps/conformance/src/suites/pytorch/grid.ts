import { PhiloxStream } from '@tilewise/philox';

/** One value of each axis. */
export type GridPoint = Readonly<Record<string, unknown>>;

/** A grid that is not stored: its points are computed one by one. */
export interface Grid {
  readonly size: number;
  at(index: number): GridPoint;
}

/** Every combination of the values of some axes; the last axis changes fastest. */
export function gridOf(axes: Readonly<Record<string, readonly unknown[]>>): Grid {
  const names = Object.keys(axes);
  return {
    size: names.reduce((product, name) => product * axes[name].length, 1),
    at(index) {
      const point: Record<string, unknown> = {};
      let rest = index;
      for (const name of [...names].reverse()) {
        const values = axes[name];
        point[name] = values[rest % values.length];
        rest = Math.floor(rest / values.length);
      }
      return point;
    },
  };
}

/** The numbers 0 … size − 1 in a fixed random order: a Fisher–Yates shuffle by Philox. */
export function shuffled(size: number, seed: number): number[] {
  const order = Array.from({ length: size }, (_, i) => i);
  const stream = new PhiloxStream(BigInt(seed));
  for (let i = size - 1; i > 0; i--) {
    const j = Math.floor((stream.nextU32() / 2 ** 32) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
