import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { tritonRand, tritonRandint4x } from './triton.ts';

const { triton_rand: vectors } = loadPhilox<{
  triton_rand: { seed: string; offset: string; randint4x: string[]; rand_f32_bits: string }[];
}>('other_philox_vectors');
const long = (digits: string) => BigInt(`0x${digits}`);
const hex = (words: Iterable<number>) => Array.from(words, word => word.toString(16).padStart(8, '0'));

describe('tritonRand', () => {
  it.each(vectors)('draws seed $seed, offset $offset', ({ seed, offset, randint4x, rand_f32_bits }) => {
    expect(hex(tritonRandint4x(long(seed), long(offset)))).toEqual(randint4x);
    const bits = new Uint32Array(new Float32Array([tritonRand(long(seed), long(offset))]).buffer);
    expect(hex(bits)).toEqual([rand_f32_bits]);
  });
});
