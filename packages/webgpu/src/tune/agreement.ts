import { type DType, dtypeInfo } from '@tilewise/core';

/** Results by name, f32. */
export type Sample = ReadonlyMap<string, Float32Array>;

/**
 * How far results on two tiles may be from each other, of the largest value. f32: what sums in another order give. Of 16 bits and less the
 * result is rounded once, and matrices round probabilities and their gradients before a product: eight units in the last place in all.
 */
const toleranceOf = (dtype: DType): number =>
  dtypeInfo[dtype].bytes === 4 ? 2e-5 : 8 * 2 ** -(mantissaBits[dtype] ?? 2);

const mantissaBits: { readonly [D in DType]?: number } = { f16: 10, bf16: 7, f8e4m3: 3, f8e5m2: 2 };

/** What is wrong with results, next to those of the same work on another tile; nothing when they agree. */
export function disagreement(
  expected: Sample,
  got: Sample,
  dtypes: Readonly<Record<string, DType>>,
): string | null {
  for (const [name, values] of expected) {
    const others = got.get(name);
    let [largest, distance] = [0, 0];
    for (const [n, value] of values.entries()) {
      largest = Math.max(largest, Math.abs(value));
      // NaN is as far from anything as can be.
      const apart = Math.abs(value - (others?.[n] ?? Number.NaN));
      distance = Math.max(distance, Number.isNaN(apart) ? Infinity : apart);
    }
    if (distance > toleranceOf(dtypes[name]) * largest)
      return `gives another ${name} than the first tile: off by ${(distance / largest).toPrecision(2)} of the largest value`;
  }
  return null;
}
