import { Graph } from '@tilewise/graph';
import { expect, test } from 'vitest';
import { fill } from './fill.ts';
import { roleOf } from './roles.ts';

test('factors of a product have both signs, and products that are exact in any 16-bit float', () => {
  const graph = new Graph();
  const source = graph.tensor({ dtype: 'f32', shape: [64, 300] });
  graph.op('ReduceProd', {
    attrs: { axes: [1] },
    inputs: [source],
    outputs: [graph.tensor({ dtype: 'f32' })],
  });
  graph.finalize();
  const desc = { dtype: 'f32', shape: [64, 300], strides: [300, 1] } as const;
  const factors = fill(source, desc, roleOf(source, graph), 300).toFloat64();
  const products = Array.from({ length: 64 }, (_, row) =>
    factors.subarray(row * 300, (row + 1) * 300).reduce((product, x) => product * x, 1),
  );
  expect(new Set(products.map(Math.sign))).toEqual(new Set([-1, 1]));
  expect(products.filter(x => Math.abs(x) !== 1).length).toBeGreaterThan(32);
  expect(Math.max(...products.map(x => Math.abs(Math.log2(Math.abs(x)))))).toBeLessThanOrEqual(14);
});
