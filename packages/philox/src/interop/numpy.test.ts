import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { NumpyPhilox } from './numpy.ts';
import { seedSequenceState } from './numpy-seed-sequence.ts';

const file = loadPhilox<{
  key_counter: { key_int_hex: string; counter_int_hex: string; random_raw: string[] }[];
  seeded: {
    seed: string;
    derived_key: string[];
    random_raw: string[];
    random_double: string[];
    random_float32_bits: string[];
    integers_u32_full_range: string[];
  }[];
  key42_advance1: string[];
  key42_advance10: string[];
  key42_jumped: { counter: string[]; random_raw: string[] };
}>('numpy_philox_vectors');

const long = (digits: string) => BigInt(`0x${digits}`);
const hex16 = (word: bigint) => word.toString(16).padStart(16, '0');
const raw = (generator: NumpyPhilox, count: number) =>
  Array.from({ length: count }, () => hex16(generator.nextRaw()));

/** A C99 hexadecimal float such as 0x1.ccf2d9115c140p-7. */
function hexFloat(text: string): number {
  const [, whole = '', fraction = '', exponent = ''] = /^0x(\d)\.([0-9a-f]*)p([+-]\d+)$/.exec(text) ?? [];
  return Number.parseInt(whole + fraction, 16) * 2 ** (Number(exponent) - 4 * fraction.length);
}

describe('NumpyPhilox', () => {
  it.each(file.key_counter)('draws from key $key_int_hex, counter $counter_int_hex', vector => {
    const generator = new NumpyPhilox({
      key: long(vector.key_int_hex),
      counter: long(vector.counter_int_hex),
    });
    expect(raw(generator, vector.random_raw.length)).toEqual(vector.random_raw);
  });

  it.each(file.seeded)('draws every type from seed $seed', vector => {
    const seed = BigInt(vector.seed);
    expect(seedSequenceState(seed, 2).map(hex16)).toEqual(vector.derived_key);
    const fresh = () => new NumpyPhilox({ seed });
    expect(raw(fresh(), vector.random_raw.length)).toEqual(vector.random_raw);
    const [doubles, floats, words] = [fresh(), fresh(), fresh()];
    expect(vector.random_double.map(() => doubles.nextDouble())).toEqual(vector.random_double.map(hexFloat));
    const bits = vector.random_float32_bits.map(
      () => new DataView(new Float32Array([floats.nextFloat()]).buffer),
    );
    expect(bits.map(view => view.getUint32(0, true).toString(16).padStart(8, '0'))).toEqual(
      vector.random_float32_bits,
    );
    expect(vector.integers_u32_full_range.map(() => words.nextU32().toString(16).padStart(8, '0'))).toEqual(
      vector.integers_u32_full_range,
    );
  });

  it('advances by blocks and jumps by 2^128 of them', () => {
    const advanced = new NumpyPhilox({ key: 42 });
    advanced.nextU32();
    advanced.advance(0);
    advanced.advance(0n);
    expect(raw(advanced, 1)).toEqual([file.key42_advance1[0]]);
    for (const [blocks, expected] of [
      [1, file.key42_advance1],
      [10, file.key42_advance10],
    ] as const) {
      const generator = new NumpyPhilox({ key: 42 });
      generator.advance(blocks);
      expect(raw(generator, 4)).toEqual(expected);
    }
    const jumped = new NumpyPhilox({ key: 42 }).jumped();
    expect(jumped.counter).toBe(2n ** 128n);
    expect(raw(jumped, 4)).toEqual(file.key42_jumped.random_raw);
  });

  it('rejects keys and counters that are too long', () => {
    expect(() => new NumpyPhilox({ key: 2n ** 128n })).toThrow('key must be');
    expect(() => new NumpyPhilox({ key: 1, counter: -1 })).toThrow('counter must be');
    expect(() => new NumpyPhilox({ seed: 0.5 })).toThrow('seed must be');
  });
});
