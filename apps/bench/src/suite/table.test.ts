import { expect, test } from 'vitest';
import { table } from './table.ts';

test('columns are aligned, numbers to the right with three digits', () => {
  const rows = [
    { engine: 'cpu', ms: 1.23456, S: 128 },
    { engine: 'webgpu', ms: 1234.56, S: 4096 },
  ];
  expect(table(rows)).toBe('engine    ms     S\ncpu     1.23   128\nwebgpu  1235  4096');
});

test('no rows, no table', () => {
  expect(table([])).toBe('');
});
