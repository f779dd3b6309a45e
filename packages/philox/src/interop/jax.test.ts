import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { jaxPhiloxBits, jaxPhiloxFoldIn, jaxPhiloxKey, jaxPhiloxSplit } from './jax.ts';

const { jax_philox4x32_impl: vectors } = loadPhilox<{
  jax_philox4x32_impl: {
    seed: number;
    key: string[];
    random_bits32_shape6: string[];
    split2: string[][];
    fold_in_9: string[];
  }[];
}>('other_philox_vectors');
const hex = (words: Iterable<number>) => Array.from(words, word => word.toString(16).padStart(8, '0'));

describe("JAX's philox4x32 implementation", () => {
  it.each(vectors)('derives keys and bits from seed $seed', vector => {
    const key = jaxPhiloxKey(vector.seed);
    expect(hex(key)).toEqual(vector.key);
    expect(hex(jaxPhiloxBits(key, 6))).toEqual(vector.random_bits32_shape6);
    expect(jaxPhiloxSplit(key).map(hex)).toEqual(vector.split2);
    expect(hex(jaxPhiloxFoldIn(key, 9))).toEqual(vector.fold_in_9);
  });
});
