import type { DType } from '@tilewise/core';

/** Results by name, as f32. */
export type Sample = ReadonlyMap<string, Float32Array>;

/**
 * How much the results of two tiles may differ, relative to the largest value, if the tensors have this
 * dtype. f32: the effect of summing in another order. 16 bits: results are rounded once, and matrix tiles
 * round probabilities and their gradients before a product; together eight units in the last place. Products
 * in f16 differ by two to four such units on the numbers that `tune` uses: see `f16Arithmetic`. 8 bits, which
 * matrix tiles do not multiply: one unit.
 */
const tolerances: { readonly [D in DType]?: number } = {
  f32: 2e-5,
  f16: 8 * 2 ** -10,
  bf16: 8 * 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

export const toleranceOf = (dtype: DType): number => tolerances[dtype] ?? 0;

/** How results differ from those of the same work on another tile; null if they agree. */
export function disagreement(expected: Sample, got: Sample, tolerance: number): string | null {
  for (const [name, values] of expected) {
    const others = got.get(name);
    let [largest, distance] = [0, 0];
    for (const [n, value] of values.entries()) {
      const other = others?.[n] ?? Number.NaN;
      if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
      // NaN and infinities count as infinitely far from any other value.
      const apart = Object.is(value, other) ? 0 : Math.abs(value - other);
      distance = Math.max(distance, Number.isNaN(apart) ? Infinity : apart);
    }
    if (distance > tolerance * largest)
      return `gives a different ${name} from the first tile: off by ${(distance / largest).toPrecision(2)} of the largest value`;
  }
  return null;
}
