import type { Expected } from './expected.ts';
import { unwritten } from './gpu/run-kernel.ts';
import { type ArrayName, formOf, rowCount, rowLength, type Sizes } from './puzzles/arrays.ts';

/** The place of an element; the column is null in an array with one number for each row. */
export interface Place {
  readonly array: ArrayName;
  readonly row: number;
  readonly column: number | null;
}

/** One element of an output: the value that it holds and the value that it should hold. */
export interface Difference extends Place {
  readonly got: number;
  readonly wanted: number;
  /** The error as a multiple of the allowed error; more than 1 is wrong. */
  readonly times: number;
}

/**
 * A fault in the outputs: a wrong element, an element that was not written, or one written beyond the end.
 */
export type Wrong =
  | ({ readonly kind: 'differs' } & Difference)
  | ({ readonly kind: 'unwritten' } & Place)
  | { readonly kind: 'outside'; readonly array: ArrayName; readonly row: number };

/** The first fault of the outputs, if any, and the largest error. */
export interface Comparison {
  readonly wrong: Wrong | null;
  readonly largest: Difference;
}

/** Compares outputs, which include guard rows after their ends, with the expected values. */
export function compare(
  outputs: ReadonlyMap<ArrayName, Float32Array>,
  wanted: ReadonlyMap<ArrayName, Expected>,
  sizes: Sizes,
): Comparison {
  let wrong: Wrong | null = null;
  let largest: Difference | null = null;
  for (const [array, values] of outputs) {
    const length = rowLength(array, sizes);
    const count = rowCount(array, sizes) * length;
    const { values: exact, allowed } = wanted.get(array) ?? { values: [], allowed: [] };
    const placeOf = (e: number): Place => ({
      array,
      row: Math.floor(e / length),
      column: formOf(array) === 'vector' ? null : e % length,
    });
    for (let e = 0; e < count; e++) {
      const [got = 0, want = 0] = [values[e], exact[e]];
      if (got === unwritten) {
        wrong ??= { kind: 'unwritten', ...placeOf(e) };
        continue;
      }
      const ratio = Math.abs(got - want) / (allowed[e] ?? 1);
      // NaN counts as the largest possible error.
      const times = Number.isNaN(ratio) ? Number.POSITIVE_INFINITY : ratio;
      if (!largest || times > largest.times) largest = { ...placeOf(e), got, wanted: want, times };
    }
    const beyond = values.findIndex((value, e) => e >= count && value !== unwritten);
    if (beyond >= 0) wrong ??= { kind: 'outside', array, row: placeOf(beyond).row };
  }
  largest ??= { array: 'o', row: 0, column: 0, got: 0, wanted: 0, times: 0 };
  if (!wrong && largest.times > 1) wrong = { kind: 'differs', ...largest };
  return { wrong, largest };
}
