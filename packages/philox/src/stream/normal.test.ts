import { describe, expect, it } from 'vitest';
import { normalPairFromWords } from './normal.ts';

describe('normalPairFromWords', () => {
  it('puts the sine first', () => {
    // y = 2^30 is a quarter turn: all of the radius is in the sine.
    const [sine, cosine] = normalPairFromWords(2 ** 31, 2 ** 30);
    expect(sine).toBeCloseTo(Math.sqrt(2 * Math.LN2), 6);
    expect(Math.abs(cosine)).toBeLessThan(1e-6);
  });

  it('is finite at both ends of both words', () => {
    for (const x of [0, 0xffffffff]) {
      for (const y of [0, 0xffffffff]) {
        expect(normalPairFromWords(x, y).every(Number.isFinite)).toBe(true);
      }
    }
    expect(Math.hypot(...normalPairFromWords(0, 5))).toBeCloseTo(Math.sqrt(66 * Math.LN2), 5);
    expect(normalPairFromWords(0xffffffff, 77).map(Math.abs)).toEqual([0, 0]);
  });
});
