import type { Tensor } from '@tilewise/core';

/**
 * True if a weight is the parameter transposed, false if it is the parameter itself, null if it is another.
 */
export function sameValues(weight: Tensor, parameter: Tensor): boolean | null {
  if (weight.size !== parameter.size) return null;
  const [a, b] = [weight.toFloat64(), parameter.toFloat64()];
  if (a.every((x, n) => x === b[n])) return false;
  if (weight.shape.length !== 2) return null;
  return transposed(a, weight.shape).every((x, n) => x === b[n]) ? true : null;
}

/** The values of a matrix of this shape, transposed. */
export function transposed<V extends Float32Array | Float64Array>(
  values: V,
  [rows, columns = 1]: readonly number[],
): V {
  return values.map((_, n) => values[(n % rows) * columns + Math.floor(n / rows)]) as V;
}
