/** e^(s_n − m) */
export function exponentials(s: Float64Array, m: number): Float64Array {
  const e = new Float64Array(s.length);
  for (let n = 0; n < s.length; n++) e[n] = Math.exp(s[n] - m);
  return e;
}

/** a_n b_n */
export function times(a: Float64Array, b: Float64Array): Float64Array {
  const products = new Float64Array(a.length);
  for (let n = 0; n < a.length; n++) products[n] = a[n] * b[n];
  return products;
}

/** round(a_n / divisor · factor) */
export function rounded(
  a: Float64Array,
  round: (x: number) => number,
  factor: number,
  divisor = 1,
): Float64Array {
  const results = new Float64Array(a.length);
  for (let n = 0; n < a.length; n++) results[n] = round((a[n] / divisor) * factor);
  return results;
}

/** start + Σ_n a_n */
export function sum(a: Float64Array, start: number): number {
  let total = start;
  for (let n = 0; n < a.length; n++) total += a[n];
  return total;
}

/** The largest of a_n and `least`. */
export function largest(a: Float64Array, least: number): number {
  let most = least;
  for (let n = 0; n < a.length; n++) most = Math.max(most, a[n]);
  return most;
}

/** The largest |a_n|; 0 of none. */
export function magnitude(a: Float64Array): number {
  let most = 0;
  for (let n = 0; n < a.length; n++) most = Math.max(most, Math.abs(a[n]));
  return most;
}

/** Row i of a row-major matrix with D columns; a view. */
export function rowOf(X: Float64Array, i: number, D: number): Float64Array {
  return X.subarray(i * D, (i + 1) * D);
}
