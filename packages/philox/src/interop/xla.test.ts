import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it, vi } from 'vitest';
import { xlaRngBitGenerator } from './xla.ts';

const { xla_rng_bit_generator_philox: vectors } = loadPhilox<{
  xla_rng_bit_generator_philox: {
    state_in: string[];
    n_u32: number;
    out_u32: string[];
    state_out: string[];
  }[];
}>('other_philox_vectors');
const long = (digits: string) => BigInt(`0x${digits}`);
const hex = (words: Iterable<number>) => Array.from(words, word => word.toString(16).padStart(8, '0'));

describe('xlaRngBitGenerator', () => {
  it.each(vectors)('draws from state $state_in and returns the next state', vector => {
    const { words, state } = xlaRngBitGenerator(vector.state_in.map(long), vector.n_u32);
    expect(hex(words)).toEqual(vector.out_u32);
    expect(state).toEqual(vector.state_out.map(long));
  });

  it('is OUT_OF_MEMORY for more words than the host allocates', () => {
    class Refusing {
      constructor() {
        throw new RangeError('Array buffer allocation failed');
      }
    }
    vi.stubGlobal('Uint32Array', Refusing);
    try {
      expect(() => xlaRngBitGenerator([1n, 2n], 2 ** 32 - 1)).toThrow(
        expect.objectContaining({ code: 'OUT_OF_MEMORY', message: 'no memory for 4294967296 words' }),
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('needs a state of two or three integers', () => {
    expect(() => xlaRngBitGenerator([1n], 4)).toThrow('state must have 2 or 3 elements, got 1');
    expect(() => xlaRngBitGenerator([1n, -1n], 4)).toThrow('state[1] must be');
  });
});
