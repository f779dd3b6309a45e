import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type KeptRow = Readonly<Record<string, number>> & {
  readonly kernel: string;
  readonly D: number;
  readonly dtype: string;
  readonly which: 'old' | 'new';
};

const rows = readFileSync(new URL('../../results/rdna/tiles.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as KeptRow);
const nameOf = ({ kernel, D, dtype, which }: KeptRow): string => `${kernel}, D = ${D}, ${dtype}, ${which}`;

test('the table has every kernel, old and new', () => {
  expect(new Set(rows.map(nameOf)).size).toBe(2 * 2 * 3 * 2);
});

test.each(rows.map(row => [nameOf(row), row] as const))(
  "%s: the model is close to Mesa's report",
  (_, row) => {
    expect(row['Mesa: spilled']).toBe(0);
    for (const [what, factor] of [
      ['registers', 1.3],
      ['busy clocks', 1.15],
      ['waiting clocks', 1.35],
      ['time of old', 1.1],
    ] as const) {
      const ratio = row[`model: ${what}`] / row[`Mesa: ${what}`];
      expect(ratio, what).toBeLessThan(factor);
      expect(ratio, what).toBeGreaterThan(1 / factor);
    }
  },
);

test('the loops of the listings are identified: their multiply-adds are those of the products', () => {
  for (const row of rows) {
    const products = { forward: 2, dq: 3, dkdv: 4 }[row.kernel] ?? 0;
    const [, x, y] = /lanes of (\d+)×(\d+)/.exec(String(row.tile)) ?? [];
    const expected = products * Number(x) * Number(y) * row.D;
    expect(row['Mesa: multiply-adds'] / expected, nameOf(row)).toBeGreaterThan(0.99);
    expect(row['Mesa: multiply-adds'] / expected, nameOf(row)).toBeLessThan(1.06);
  }
});

test('the new tiles for AMD take at most half of the time in forward, by the model and by Mesa', () => {
  const times = rows.filter(({ which }) => which === 'new');
  for (const row of times)
    for (const whose of ['model', 'Mesa'])
      expect(row[`${whose}: time of old`], nameOf(row)).toBeLessThan(row.kernel === 'forward' ? 0.5 : 0.53);
});
