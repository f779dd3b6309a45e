import { join } from 'node:path';
import { fixturesDir, loadGolden } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { poisonPadding } from './poison-padding.ts';

const load = (name: string) => loadGolden(name, join(fixturesDir(), 'attention'));

function poisonedRows(name: string, input: string): number[] {
  const golden = load(name);
  const { data, shape } = poisonPadding(golden).inputs[input];
  const [B, H, S, D] = shape;
  return Array.from({ length: B }, (_, b) => {
    const rows = Array.from({ length: H * S }, (_, row) =>
      data.subarray((b * H * S + row) * D, (b * H * S + row + 1) * D),
    );
    return rows.filter(row => row.every(Number.isNaN)).length / H;
  });
}

test('the rows beyond each sequence hold NaN, and no others', () => {
  const { params } = load('lens_window_br');
  expect(poisonedRows('lens_window_br', 'k')).toEqual(params.kvLens?.map(n => params.Skv - n));
  expect(poisonedRows('lens_window_br', 'v')).toEqual(params.kvLens?.map(n => params.Skv - n));
  expect(poisonedRows('lens_window_br', 'q')).toEqual(params.qLens?.map(n => params.Sq - n));
  expect(poisonedRows('lens_window_br', 'dO')).toEqual(params.qLens?.map(n => params.Sq - n));
});

test('a side without lengths is left alone, as are packed sequences', () => {
  expect(poisonedRows('kvlens_zero', 'q')).toEqual([0, 0, 0]);
  const packed = load('varlen_empty_seq_br');
  expect(poisonPadding(packed)).toBe(packed);
});
