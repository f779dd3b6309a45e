import type { Footprint } from '@tilewise/core/engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KernelGrid, KernelSpec } from '../kernel-spec.ts';
import { dispatchSplits, windowOf } from './dispatch-splits.ts';

const size = fc.integer({ min: 1, max: 6 });

test('a window covers the footprint of each workgroup of a run', () => {
  fc.assert(
    fc.property(
      fc.record({ batches: size, heads: size, tiles: size, rows: size, reversed: fc.boolean() }),
      fc.record({
        sameBatches: fc.boolean(),
        heads: size,
        S: size,
        strides: fc.tuple(size, size, size),
        inner: size,
      }),
      fc.constantFrom('q' as const, 'kv' as const),
      fc.tuple(fc.nat(), fc.nat()),
      (drawn, tensor, side, ends) => {
        const grid: KernelGrid = { ...drawn, side: 'q' };
        const footprint: Footprint = {
          side,
          batches: { count: tensor.sameBatches ? grid.batches : 1, stride: tensor.strides[0] },
          heads: { count: tensor.heads, stride: tensor.strides[1] },
          rows: { count: Math.min(tensor.S, grid.tiles * grid.rows), stride: tensor.strides[2] },
          inner: tensor.inner,
        };
        const places = grid.batches * grid.heads * grid.tiles;
        const [first, last] = ends.map(n => n % places).sort((a, b) => a - b);
        const alone = Array.from({ length: last - first + 1 }, (_, n) =>
          windowOf(footprint, grid, first + n, first + n + 1),
        );
        expect(windowOf(footprint, grid, first, last + 1)[0]).toBeLessThanOrEqual(
          Math.min(...alone.map(([x]) => x)),
        );
        expect(windowOf(footprint, grid, first, last + 1)[1]).toBeGreaterThanOrEqual(
          Math.max(...alone.map(([, y]) => y)),
        );
        const end =
          (footprint.batches.count - 1) * footprint.batches.stride +
          (footprint.heads.count - 1) * footprint.heads.stride +
          (footprint.rows.count - 1) * footprint.rows.stride +
          footprint.inner;
        expect(windowOf(footprint, grid, 0, places)).toEqual([0, end]);
      },
    ),
    { numRuns: 300 },
  );
});

test('heads of a group share the window of their key head', () => {
  const grid: KernelGrid = { batches: 1, heads: 6, tiles: 1, side: 'q', rows: 8, reversed: false };
  const k: Footprint = {
    side: 'kv',
    batches: { count: 1, stride: 0 },
    heads: { count: 2, stride: 100 },
    rows: { count: 10, stride: 10 },
    inner: 10,
  };
  expect([0, 2, 3, 5].map(h => windowOf(k, grid, h, h + 1))).toEqual([
    [0, 100],
    [0, 100],
    [100, 200],
    [100, 200],
  ]);
  expect(windowOf(k, { ...grid, heads: 1 }, 0, 1)).toEqual([0, 200]);
});

test('a tensor of which one tile needs too much is named immediately, whatever the number of tiles', () => {
  const grid: KernelGrid = { batches: 1, heads: 1e9, tiles: 4, side: 'q', rows: 8, reversed: false };
  const binding = { name: 'lse', variable: 'lse', element: 'f32', access: 'read', elementBytes: 4 };
  const kernel = { name: 'kernel', bindings: [{ ...binding, alignment: 4 }], grid, groups: 4e9 };
  const splits = dispatchSplits(
    kernel as unknown as KernelSpec,
    { spans: { lse: 32e9 } },
    { bytes: 2 ** 32, slack: 272 },
  );
  expect(splits).toBe('lse');
});
