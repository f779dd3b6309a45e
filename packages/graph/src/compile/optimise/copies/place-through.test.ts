import { contiguousStrides } from '@tilewise/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Layout, placeThrough } from './place-through.ts';

const dense = (shape: readonly number[], offset = 0): Layout => ({
  shape,
  strides: contiguousStrides(shape),
  offset,
});

const permuted = ({ shape, strides, offset }: Layout, order: readonly number[]): Layout => ({
  ...{ shape: order.map(d => shape[d]), strides: order.map(d => strides[d]), offset },
});

/** The memory offsets of all elements, in row-major order. */
function placesOf({ shape, strides, offset }: Layout): number[] {
  return shape.reduce(
    (places, extent, d) =>
      places.flatMap(at => Array.from({ length: extent }, (_, n) => at + n * strides[d])),
    [offset],
  );
}

const shapes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });

test('the layout of a tensor follows the elements of its memory through moves', () => {
  const cases = shapes.chain(shape =>
    fc.tuple(
      fc.constant(shape),
      fc.shuffledSubarray([...shape.keys()], { minLength: shape.length }),
      fc.shuffledSubarray([...shape.keys()], { minLength: shape.length }),
      fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: shape.length, maxLength: shape.length }),
    ),
  );
  let found = 0;
  fc.assert(
    fc.property(cases, ([shape, order, view, cuts]) => {
      const from = permuted(
        dense(order.map(d => shape[d])),
        order.map((_, d) => order.indexOf(d)),
      );
      const to = dense(shape, 7);
      // A part of the memory with its dimensions in another order.
      const starts = shape.map((n, d) => Math.min(cuts[d][0], n - 1));
      const part = {
        shape: shape.map((n, d) => Math.max(1, n - starts[d] - cuts[d][1])),
        strides: from.strides,
        offset: starts.reduce((sum, start, d) => sum + start * from.strides[d], 0),
      };
      const tensor = permuted(part, view);
      const moved = placeThrough(tensor, from, to);
      if (moved === null) return;
      found++;
      const target = new Map(placesOf(from).map((place, n) => [place, placesOf(to)[n]]));
      expect(placesOf(moved)).toEqual(placesOf(tensor).map(place => target.get(place)));
    }),
  );
  expect(found).toBeGreaterThan(90);
});

test('dimensions that are contiguous in memory, but not at their destination, have no strides', () => {
  const apart: Layout = { shape: [3, 4], strides: [1, 3], offset: 0 };
  expect(placeThrough(dense([12]), dense([3, 4]), apart)).toBeNull();
  expect(placeThrough(dense([3, 2, 2]), dense([3, 4]), apart)?.strides).toEqual([1, 6, 3]);
  expect(placeThrough(dense([4]), { shape: [4], strides: [2], offset: 0 }, dense([4]))).toBeNull();
});
