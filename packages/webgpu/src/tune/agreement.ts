import type { DType } from '@tilewise/core';

/** Results by name, f32. */
export type Sample = ReadonlyMap<string, Float32Array>;

/**
 * How far results on two tiles may be from each other where tensors have a dtype, of the largest value. f32:
 * what sums in another order give. 16 bits: results are rounded once, and matrices round probabilities and
 * their gradients before a product: eight units in the last place in all. Products in f16 are off by two to
 * four such units on the numbers that `tune` takes: see `f16Arithmetic`. 8 bits, which matrices do not
 * multiply: one.
 */
const tolerances: { readonly [D in DType]?: number } = {
  f32: 2e-5,
  f16: 8 * 2 ** -10,
  bf16: 8 * 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

export const toleranceOf = (dtype: DType): number => tolerances[dtype] ?? 0;

/** The disagreement of results with those of the same work on another tile; nothing when they agree. */
export function disagreement(expected: Sample, got: Sample, tolerance: number): string | null {
  for (const [name, values] of expected) {
    const others = got.get(name);
    let [largest, distance] = [0, 0];
    for (const [n, value] of values.entries()) {
      const other = others?.[n] ?? Number.NaN;
      if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
      // What is not a number, or not finite, is as far from anything else as can be.
      const apart = Object.is(value, other) ? 0 : Math.abs(value - other);
      distance = Math.max(distance, Number.isNaN(apart) ? Infinity : apart);
    }
    if (distance > tolerance * largest)
      return `gives another ${name} than the first tile: off by ${(distance / largest).toPrecision(2)} of the largest value`;
  }
  return null;
}
