import { expect, it } from 'vitest';
import { maskTiles } from './mask-tiles.ts';

it('skips tiles above the diagonal, tests those on it, and tests none below', () => {
  const S = 6;
  const causal = Float32Array.from({ length: S * S }, (_, n) =>
    n % S <= Math.floor(n / S) ? 1 : Number.NaN,
  );
  expect(maskTiles(causal, S, 2)).toEqual([
    ['tested', 'skipped', 'skipped'],
    ['whole', 'tested', 'skipped'],
    ['whole', 'whole', 'tested'],
  ]);
});
