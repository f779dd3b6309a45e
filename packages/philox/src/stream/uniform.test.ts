import { loadPhilox } from '@tilewise/test-data';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstWordAbove, firstWordAtLeast, uniformFromWord } from './uniform.ts';

interface Thresholds {
  readonly p: number;
  readonly keep_if_x_ge: string;
  readonly native_keep_if_x_lt: string;
}
const { thresholds } = loadPhilox<{ thresholds: Thresholds[] }>('mem_eff_dropout_vectors');
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const probability = fc.float({ min: 0, max: 1, noNaN: true });

describe('uniformFromWord', () => {
  it('runs from 2^-33 to 1 and never decreases', () => {
    expect(uniformFromWord(0)).toBe(2 ** -33);
    expect(uniformFromWord(0xffffff7f)).toBeLessThan(1);
    expect(uniformFromWord(0xffffff80)).toBe(1);
    fc.assert(fc.property(word, word, (x, y) => x > y || uniformFromWord(x) <= uniformFromWord(y)));
  });
});

describe('the integer thresholds', () => {
  it.each(thresholds)('of p = $p are those of PyTorch', ({ p, keep_if_x_ge, native_keep_if_x_lt }) => {
    expect(firstWordAbove(p)).toBe(Number.parseInt(keep_if_x_ge, 16));
    expect(firstWordAtLeast(1 - p)).toBe(Number.parseInt(native_keep_if_x_lt, 16));
  });

  it('decide as the comparison in f32 does', () => {
    fc.assert(
      fc.property(word, probability, (x, p) => {
        expect(x >= firstWordAbove(p)).toBe(uniformFromWord(x) > p);
        expect(x < firstWordAtLeast(p)).toBe(uniformFromWord(x) < p);
      }),
    );
  });

  it('are 2^32 if no word qualifies', () => {
    expect(firstWordAbove(1)).toBe(2 ** 32);
    expect(firstWordAtLeast(1.5)).toBe(2 ** 32);
  });
});
