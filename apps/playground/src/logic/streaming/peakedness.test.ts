import { expect, it } from 'vitest';
import { peakedness } from './peakedness.ts';

it('spreads scores by √d, and lets one weight take nearly all without the scale', () => {
  for (const d of [4, 64, 256]) {
    // For 80 queries, the mean square of their lengths is within a fifth of d, even if d is 4.
    expect(Math.abs(peakedness(d).unscaled.spread / Math.sqrt(d) - 1)).toBeLessThan(0.2);
    expect(Math.abs(peakedness(d).scaled.spread - 1)).toBeLessThan(0.2);
  }
  expect(peakedness(256).unscaled.largest).toBeGreaterThan(0.8);
  expect(peakedness(256).scaled.largest).toBeLessThan(0.4);
});
