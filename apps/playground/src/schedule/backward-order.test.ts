import { describe, expect, it } from 'vitest';
import { type Gradient, keyLoads, progress, styleOf, type Walk } from './backward-order.ts';

const gradients: readonly Gradient[] = ['dQ', 'dK', 'dV'];
const inner = (walk: Walk) => gradients.filter(gradient => styleOf(gradient, walk) === 'inner product');

describe('walking over dS', () => {
  it('by rows finishes dQ, by columns dK and dV', () => {
    expect(inner('rows')).toEqual(['dQ']);
    expect(inner('columns')).toEqual(['dK', 'dV']);
  });

  it('finishes every row of every gradient in the end, and none before it began', () => {
    for (const walk of ['rows', 'columns'] as const) {
      for (const gradient of gradients) {
        for (let r = 0; r < 5; r++) {
          expect(progress(gradient, walk, 0, r, 5)).toBe(0);
          expect(progress(gradient, walk, 5, r, 5)).toBe(1);
        }
      }
    }
  });

  it('loads K and V half as often once D is known', () => {
    expect(keyLoads(8, false)).toEqual({ k: 128, v: 128 });
    expect(keyLoads(8, true)).toEqual({ k: 64, v: 64 });
  });
});
