import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sharedDir } from './data-folders.ts';
import { goldenCases } from './golden/golden-case.ts';
import { loadPhilox } from './philox-vectors.ts';

const before = process.env.TILEWISE_SHARED;
beforeEach(() => {
  process.env.TILEWISE_SHARED = '';
});
afterEach(() => {
  if (before === undefined) delete process.env.TILEWISE_SHARED;
  else process.env.TILEWISE_SHARED = before;
});

test('an empty TILEWISE_SHARED means the committed fixtures', () => {
  expect(sharedDir()).toBeUndefined();
  expect(goldenCases()).toHaveLength(24);
  expect(loadPhilox<{ vectors: unknown[] }>('philox_kat').vectors.length).toBeGreaterThan(0);
});

test('a TILEWISE_SHARED that does not exist is an error', () => {
  process.env.TILEWISE_SHARED = join(tmpdir(), 'no-such-tilewise-folder');
  expect(() => sharedDir()).toThrow(/TILEWISE_SHARED names .*no-such-tilewise-folder, which does not exist/);
});

test('a file that the full set lacks comes from the fixtures', () => {
  process.env.TILEWISE_SHARED = tmpdir();
  expect(goldenCases()).toHaveLength(24);
  expect(loadPhilox('te_dropout_vectors')).toHaveProperty('cases');
});
