import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { atPhiloxEngine } from './at-philox-engine.ts';

const hex = (word: number) => word.toString(16).padStart(8, '0');
const long = (digits: string) => BigInt(`0x${digits}`);

describe('atPhiloxEngine', () => {
  const { vectors } = loadPhilox<{
    vectors: { seed: string; subsequence: string; offset: string; out: string[] }[];
  }>('pytorch_philox_vectors');

  it.each(vectors)('draws as PyTorch from seed $seed, subsequence $subsequence, offset $offset', vector => {
    const engine = atPhiloxEngine(long(vector.seed), {
      subsequence: long(vector.subsequence),
      offset: long(vector.offset),
    });
    expect(vector.out.map(() => hex(engine.nextU32()))).toEqual(vector.out);
  });
});
