import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { explainHead, strongestHead } from './recall-report.ts';

/** Two layers of two heads over 4 tokens; in each sequence, one head looks from 3 at 1 and from 2 at 0. */
function maps(layer: number, head: number, ...masses: readonly number[]): Tensor[] {
  return [0, 1].map(l => {
    const t = Tensor.zeros([masses.length, 2, 4, 4]);
    for (const [n, mass] of l === layer ? masses.entries() : []) {
      t.set(mass, n, head, 3, 1);
      t.set(mass, n, head, 2, 0);
    }
    return t;
  });
}

const looks = [
  { from: 3, to: 1 },
  { from: 2, to: 0 },
];

test('the strongest head is the one with the most attention on the right digit, over all sequences', () => {
  expect(strongestHead(maps(1, 0, 0.75, 0.25), [looks, looks])).toEqual({ layer: 1, head: 0, mass: 0.5 });
  expect(strongestHead(maps(0, 1, 1), [looks]).layer).toBe(0);
});

test('only a head that looks at the right digits is called an induction head', () => {
  const previous = { layer: 0, head: 1, mass: 0.97 };
  expect(explainHead(0.92, previous, true)).toContain('This induction head has 92% of its attention there');
  const early = explainHead(0.1, previous, false);
  expect(early).toContain('The model has not yet learned to look up its digit');
  expect(early).not.toContain('induction head');
});
