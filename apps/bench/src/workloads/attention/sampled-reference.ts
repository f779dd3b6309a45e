import type { Tensor } from '@tilewise/core';
import { WrongResult } from '../../suite/suite.ts';
import {
  exactGradients,
  forwardRow,
  type RowPlace,
  type Rows,
  rowsOf,
  type SampledBackward,
  type SampledCall,
  type SampledForward,
  valuesOf,
} from './exact-rows.ts';

/** The rows to check: the first, the last, and `count` between them, in alternating heads. */
export function sampleRows({ q }: SampledCall, count: number): RowPlace[] {
  const [B, H, S] = q.shape;
  return Array.from({ length: count + 2 }, (_, n) => ({
    head: (n * 7) % (B * H),
    row: Math.floor((n * (S - 1)) / (count + 1)),
  }));
}

/**
 * Checks rows of o and values of lse against the definition in float64.
 * @throws WrongResult naming the tensor and the row that is off by more than 1e-5 of its largest value (or of
 * 1).
 */
export function checkForward(
  call: SampledCall,
  { o, lse }: SampledForward,
  places: readonly RowPlace[],
  tolerance = 1e-5,
): void {
  const exact = places.map(place => forwardRow(call, place));
  const rows = exact.map(row => row.o);
  check('o', places, rowsOf(o), rows, tolerance);
  const values = exact.map(row => Float64Array.of(row.lse));
  check('lse', places, valuesOf(lse), values, tolerance);
}

/** The largest error of o in these rows, as a fraction of its largest value there (or of 1). */
export function errorOfO(call: SampledCall, o: Tensor, places: readonly RowPlace[]): number {
  const exact = places.map(place => forwardRow(call, place).o);
  return worstOf(places, rowsOf(o), exact).error;
}

/** The largest error of the three gradients. */
export function errorOfGradients(
  call: SampledCall,
  results: SampledBackward,
  places: readonly RowPlace[],
): number {
  const exact = exactGradients(call, results, places);
  const names = ['dq', 'dk', 'dv'] as const;
  return Math.max(...names.map(name => worstOf(places, rowsOf(results[name]), exact[name]).error));
}

/**
 * Checks rows of dq, dk and dv against the definition in float64. Rows of dq are computed from q, k, v and dO
 * alone; rows of dk and dv depend on all queries, whose lse and o come from the forward pass, which
 * `checkForward` has checked.
 * @throws WrongResult as `checkForward`; gradients may be off by 2e-5.
 */
export function checkBackward(
  call: SampledCall,
  results: SampledBackward,
  places: readonly RowPlace[],
  tolerance = 2e-5,
): void {
  const exact = exactGradients(call, results, places);
  for (const name of ['dq', 'dk', 'dv'] as const) {
    check(name, places, rowsOf(results[name]), exact[name], tolerance);
  }
}

/** The row with the largest error, as a fraction of the largest expected value in these rows, or of 1. */
function worstOf(
  places: readonly RowPlace[],
  actual: Rows,
  expected: readonly Float64Array[],
): { readonly place: RowPlace; readonly error: number; readonly largest: number } {
  const largest = Math.max(
    1,
    ...expected.map(row => row.reduce((most, x) => Math.max(most, Math.abs(x)), 0)),
  );
  const errors = places.map((place, n) => {
    const got = actual(place);
    // NaN counts as the largest possible error.
    return expected[n].reduce((worst, x, d) => {
      const error = Math.abs(x - got[d]) / largest;
      return error <= worst ? worst : Number.isNaN(error) ? Infinity : error;
    }, 0);
  });
  const worst = errors.reduce((most, error, n) => (error > errors[most] ? n : most), 0);
  return { place: places[worst], error: errors[worst], largest };
}

function check(
  name: string,
  places: readonly RowPlace[],
  actual: Rows,
  expected: readonly Float64Array[],
  tolerance: number,
): void {
  const { place, error, largest } = worstOf(places, actual, expected);
  if (error <= tolerance) return;
  const { head, row } = place;
  throw new WrongResult(
    `${name} is off by ${(error * largest).toExponential(2)} in row ${row} of head ${head}, where ${(tolerance * largest).toExponential(2)} is allowed`,
  );
}
