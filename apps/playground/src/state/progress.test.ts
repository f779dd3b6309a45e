import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const storageKey = 'tilewise.progress';
let entries: Map<string, string>;

beforeEach(() => {
  entries = new Map();
  vi.resetModules();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => entries.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

const stored = (): unknown => JSON.parse(entries.get(storageKey) ?? 'null');

it('keeps the fewest cycles of each exercise', async () => {
  const { noteDone } = await import('./progress.ts');
  noteDone('outer-product', 24);
  noteDone('outer-product', 22);
  noteDone('outer-product', 23);
  expect(stored()).toEqual({ 'outer-product': 22 });
});

it('keeps what another tab has recorded since this page was opened', async () => {
  const { noteDone } = await import('./progress.ts');
  noteDone('one-element', 7);
  entries.set(storageKey, JSON.stringify({ 'one-element': 7, 'safe-softmax': 40 }));
  noteDone('inner-product', 25);
  expect(stored()).toEqual({ 'one-element': 7, 'safe-softmax': 40, 'inner-product': 25 });
});

it('keeps the progress of this page when nothing can be stored', async () => {
  vi.stubGlobal('localStorage', {
    getItem: () => null,
    setItem: () => {
      throw new Error('The storage is full.');
    },
  });
  const { noteDone, progressSoFar } = await import('./progress.ts');
  noteDone('one-element', 7);
  noteDone('inner-product', 25);
  expect(progressSoFar()).toEqual({ 'one-element': 7, 'inner-product': 25 });
});
