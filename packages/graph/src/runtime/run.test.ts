import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';

test('a graph runs operation by operation', async () => {
  const g = new Graph();
  const a = g.tensor({ dtype: 'f32', shape: [2, 3] });
  const b = g.tensor({ dtype: 'f32', shape: [3, 2] });
  const s = g.tensor({ dtype: 'f32' });
  const p = g.tensor({ dtype: 'f32' });
  const stats = g.tensor({ dtype: 'f32' });
  g.op('MatMul', { inputs: [a, b], outputs: [s] });
  g.op('SoftMax', { attrs: { axis: -1 }, inputs: [s], outputs: [p, stats] });
  const results = await g.run(referenceEngine(), {
    [a.id]: Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]),
    [b.id]: Tensor.from([1, 0, 0, 1, 1, 1], [3, 2]),
  });
  // a·b = [[4, 5], [10, 11]]
  const sigmoid = 1 / (1 + Math.E);
  expect([...results[p.id].toFloat64()]).toEqual(
    [sigmoid, 1 - sigmoid, sigmoid, 1 - sigmoid].map(Math.fround),
  );
  expect(results[stats.id].shape).toEqual([2, 1]);
  expect(results[stats.id].get(1, 0)).toBeCloseTo(10 + Math.log(1 + Math.E), 5);
});
