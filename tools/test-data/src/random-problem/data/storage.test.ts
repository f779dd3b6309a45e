import { expect, test } from 'vitest';
import { storages } from './storage.ts';

test.each([
  ['f16', 1, 0x3c00],
  ['f16', -2.5, 0xc100],
  ['f16', Infinity, 0x7c00],
  ['bf16', 1, 0x3f80],
  ['bf16', -0.15625, 0xbe20],
  ['f8e4m3', 1.125, 0x39],
  ['f8e5m2', -1.75, 0xbf],
  ['f8e5m2', -Infinity, 0xfc],
] as const)('%s stores %d', (dtype, x, code) => {
  expect(storages[dtype].encode(x)).toBe(code);
});

test.each([
  ['f16', 1 / 3, 0.333251953125],
  ['bf16', 1 / 3, 0.333984375],
  ['f8e4m3', 1 / 3, 0.34375],
  ['f8e5m2', 0.99, 1],
  ['f16', 1e-6, 0],
] as const)('%s rounds %d', (dtype, x, rounded) => {
  expect(storages[dtype].round(x)).toBe(rounded);
});

test('NaN is stored as one of its codes', () => {
  expect(storages.f16.encode(NaN)).toBe(0x7fff);
  expect(storages.bf16.encode(NaN)).toBe(0x7fff);
  expect(storages.f8e4m3.encode(Infinity)).toBe(0x7f);
});
