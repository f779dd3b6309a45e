import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { onednnLegacyWord, onednnWord } from './onednn-words.ts';

const hex = (word: number) => word.toString(16).padStart(8, '0');
const long = (digits: string) => BigInt(`0x${digits}`);

describe('oneDNN words', () => {
  const { raw64, legacy32_v3_11_plus: legacy } = loadPhilox<{
    raw64: { idx: string; seed: string; offset: string; out: string }[];
    legacy32_v3_11_plus: { idx: number; seed: number; out: string; out_v3_10: string }[];
  }>('onednn_philox_vectors');

  it.each(raw64)('are those of index $idx, seed $seed, offset $offset', ({ idx, seed, offset, out }) => {
    expect(hex(onednnWord(long(idx), long(seed), long(offset)))).toBe(out);
  });

  it.each(legacy)(
    'of the 32-bit paths are those of index $idx, seed $seed',
    ({ idx, seed, out, out_v3_10 }) => {
      expect(hex(onednnLegacyWord(idx, seed, '3.11'))).toBe(out);
      expect(hex(onednnLegacyWord(idx, seed, '3.10'))).toBe(out_v3_10);
    },
  );
});
