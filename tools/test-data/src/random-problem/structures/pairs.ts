import { randomOptions } from '../options/index.ts';

/** A choice as numbers: for each option of `randomOptions`, the index of its value; −1 if none is chosen. */
export type Values = readonly number[];

/** Value x of option a together with value y of option b, a < b. */
export type Pair = readonly [a: number, x: number, b: number, y: number];

/** The pairs of values that no choice has covered yet. */
export class MissingPairs {
  readonly #pairs = new Map<number, Pair>();

  /**
   * All pairs of some options (by their index in `randomOptions`), or only those pairs that contain one of
   * `others`.
   */
  constructor(options: readonly number[], others: readonly number[] = options) {
    for (const a of options)
      for (const b of options)
        if (a < b && (others.includes(a) || others.includes(b)))
          for (let x = 0; x < randomOptions[a].values.length; x++)
            for (let y = 0; y < randomOptions[b].values.length; y++)
              this.#pairs.set(keyOf(a, x, b, y), [a, x, b, y]);
  }

  /** One of the missing pairs, if any is left. */
  first(): Pair | undefined {
    const [pair] = this.#pairs.values();
    return pair;
  }

  /** How many missing pairs would be covered if option `a` had value `x` besides the values chosen so far. */
  gain(values: Values, a: number, x: number, upTo: number = values.length): number {
    let gain = 0;
    for (let b = 0; b < upTo; b++) {
      const y = values[b];
      if (y < 0 || b === a) continue;
      if (this.#pairs.has(a < b ? keyOf(a, x, b, y) : keyOf(b, y, a, x))) gain++;
    }
    return gain;
  }

  /** How many missing pairs a choice covers. */
  count(values: Values): number {
    return values.reduce((sum, x, a) => sum + (x < 0 ? 0 : this.gain(values, a, x, a)), 0);
  }

  /** Removes the pairs that a choice covers. */
  meet(values: Values): void {
    values.forEach((x, a) => {
      for (let b = a + 1; b < values.length; b++) this.#pairs.delete(keyOf(a, x, b, values[b]));
    });
  }

  strike([a, x, b, y]: Pair): void {
    this.#pairs.delete(keyOf(a, x, b, y));
  }
}

function keyOf(a: number, x: number, b: number, y: number): number {
  return ((a * 64 + x) * 64 + b) * 64 + y;
}
