import { describe, expect, it } from 'vitest';
import { maskTiles } from './mask-tiles.ts';

const S = 6;
const scoresOf = (isSeen: (i: number, j: number) => boolean): Float32Array =>
  Float32Array.from({ length: S * S }, (_, n) => (isSeen(Math.floor(n / S), n % S) ? 1 : Number.NaN));

it('skips tiles above the diagonal, tests those on it, and tests none below', () => {
  const causal = scoresOf((i, j) => j <= i);
  expect(maskTiles(causal, S, 2)).toEqual([
    ['tested', 'skipped', 'skipped'],
    ['whole', 'tested', 'skipped'],
    ['whole', 'whole', 'tested'],
  ]);
});

describe('with a mask mod that shows two documents', () => {
  const documents = scoresOf((i, j) => j <= i && i < 4 === j < 4);

  it('tests every tile up to the diagonal, because the kernel knows only the band', () => {
    expect(maskTiles(documents, S, 2, 'causal')).toEqual([
      ['tested', 'skipped', 'skipped'],
      ['tested', 'tested', 'skipped'],
      ['tested', 'tested', 'tested'],
    ]);
  });

  it('tests every tile if there is no band', () => {
    expect(maskTiles(documents, S, 2, 'nothing').flat()).toEqual(Array.from({ length: 9 }, () => 'tested'));
  });

  it('skips the hidden tiles if a block mask names them, and tests the others', () => {
    expect(maskTiles(documents, S, 2, 'blocks')).toEqual([
      ['tested', 'skipped', 'skipped'],
      ['tested', 'tested', 'skipped'],
      ['skipped', 'skipped', 'tested'],
    ]);
  });
});
