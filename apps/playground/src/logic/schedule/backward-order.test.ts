import { describe, expect, it } from 'vitest';
import { blockVisits, type Gradient, styleOf, termsAdded, visitedTile, type Walk } from './backward-order.ts';

const gradients: readonly Gradient[] = ['dQ', 'dK', 'dV'];
const inner = (walk: Walk) => gradients.filter(gradient => styleOf(gradient, walk) === 'inner');

describe('walking over dS', () => {
  it('by rows finishes dQ, by columns dK and dV', () => {
    expect(inner('rows')).toEqual(['dQ']);
    expect(inner('columns')).toEqual(['dK', 'dV']);
  });

  it('finishes every row of every gradient, and none before its first term', () => {
    for (const walk of ['rows', 'columns'] as const) {
      for (const gradient of gradients) {
        for (let r = 0; r < 5; r++) {
          expect(termsAdded(gradient, walk, 0, r, 5)).toBe(0);
          expect(termsAdded(gradient, walk, 5, r, 5)).toBe(5);
        }
      }
    }
  });

  it('loads K and V half as often once D is known', () => {
    expect(blockVisits(8, false)).toHaveLength(128);
    expect(blockVisits(8, true)).toHaveLength(64);
  });

  it('finds D of a whole row before it uses it', () => {
    const visits = blockVisits(3, false);
    for (const i of [0, 1, 2]) {
      const ofRow = visits.filter(visit => visit.i === i).map(({ purpose }) => purpose);
      expect(ofRow).toEqual(['rows', 'rows', 'rows', 'gradients', 'gradients', 'gradients']);
    }
  });
});

describe('the two kernels of backward', () => {
  const n = 4;
  const met = (kernel: 'dkdv' | 'dq', workgroup: number, causal: boolean) =>
    Array.from({ length: n }, (_, step) => visitedTile(kernel, workgroup, step, n, causal)).filter(
      tile => tile !== null,
    );

  it('meet every tile without a mask', () => {
    expect(met('dkdv', 2, false)).toEqual([0, 1, 2, 3]);
    expect(met('dq', 2, false)).toEqual([0, 1, 2, 3]);
  });

  it('skip what a causal mask hides: earlier queries for a key, later keys for a query', () => {
    expect(met('dkdv', 2, true)).toEqual([2, 3]);
    expect(met('dq', 2, true)).toEqual([0, 1, 2]);
  });
});
