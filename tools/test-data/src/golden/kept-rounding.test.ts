import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixturesDir } from '../data-folders.ts';
import { loadGolden } from './golden-case.ts';
import { keptRounding } from './kept-rounding.ts';

const golden = loadGolden('alibi_causal_br_rect', join(fixturesDir(), 'attention'));
const tensor = (shape: readonly number[], data: readonly number[]) =>
  ({ dtype: 'f32', shape, data: Float32Array.from(data) }) as const;
const rows = {
  ...golden,
  params: { ...golden.params, B: 1, Hq: 2, Hk: 2, Sq: 2, Skv: 5, Dqk: 1, Dv: 1 },
  inputs: { dO: tensor([1, 2, 2, 1], [1, -1, 10, 20]) },
  outputs: { o: tensor([1, 2, 2, 1], [3, 3, 1, 1]), lse: tensor([1, 2, 2], [0, 0, 0, 0]) },
};
const { params } = rows;

test('the gradient of a slope keeps the rounding of o times the distances of its head', () => {
  // The last query is on the last key, 4 keys after the first one, and the other query is on the key before.
  expect(keptRounding(rows, 'dAlibi', 1)).toBe(10 * 3 + 20 * 4);
  const topLeft = { ...rows, params: { ...params, align: 'tl', causal: false } as const };
  expect(keptRounding(topLeft, 'dAlibi', 0.5)).toBe((10 * 4 + 20 * 3) / 2);
});

test('rows of packed sequences have the distances of their sequence', () => {
  const cumulative = (ends: readonly number[]) =>
    ({ dtype: 'i32', shape: [3], data: Int32Array.from([0, ...ends]) }) as const;
  const packed = {
    ...rows,
    params: { ...params, layout: 'THD', B: 2, Hq: 1, Hk: 1 } as const,
    inputs: { ...rows.inputs, cuSeqQ: cumulative([1, 4]), cuSeqKv: cumulative([3, 8]) },
  };
  // The first sequence has 1 query and 3 keys, the other 3 queries and 5 keys.
  expect(keptRounding(packed, 'dAlibi', 1)).toBe(3 * 2 + 3 * 2 + 10 * 3 + 20 * 4);
});

test('the gradient of a sink keeps the rounding of o times the probabilities of the sink', () => {
  const lse = tensor([1, 2, 2], [0, 1, 2, 3]);
  const sunk = {
    ...rows,
    inputs: { ...rows.inputs, sink: tensor([2], [-1, 1]) },
    outputs: { ...rows.outputs, lse },
  };
  const expected = Math.max(3 * Math.exp(-1) + 3 * Math.exp(-2), 10 * Math.exp(-1) + 20 * Math.exp(-2));
  expect(keptRounding(sunk, 'dsink', 1)).toBeCloseTo(expected, 6);
  expect(keptRounding(rows, 'dsink', 1)).toBe(0);
});

test('the gradients of q, k and v have no such sum', () => {
  expect(keptRounding(rows, 'dk', 1)).toBe(0);
});
