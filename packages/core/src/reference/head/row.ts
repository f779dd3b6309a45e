/** e^(s_n − m) */
export const exponentials = (s: Float64Array, m: number): Float64Array => s.map(x => Math.exp(x - m));

/** a_n b_n */
export const times = (a: Float64Array, b: Float64Array): Float64Array => a.map((x, n) => x * b[n]);

/** start + Σ_n a_n */
export const sum = (a: Float64Array, start: number): number => a.reduce((total, x) => total + x, start);

/** The largest of a_n and `least`. */
export const largest = (a: Float64Array, least: number): number =>
  a.reduce((most, x) => Math.max(most, x), least);

/** The largest |a_n|; 0 without elements. */
export const magnitude = (a: Float64Array): number => a.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** round(a_n / divisor · factor) */
export function rounded(
  a: Float64Array,
  round: (x: number) => number,
  factor: number,
  divisor = 1,
): Float64Array {
  return a.map(x => round((x / divisor) * factor));
}

/** Row i of a row-major matrix with D columns; a view. */
export function rowOf(X: Float64Array, i: number, D: number): Float64Array {
  return X.subarray(i * D, (i + 1) * D);
}
