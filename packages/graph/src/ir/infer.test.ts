import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { inferShapes } from './infer.ts';
import { UNKNOWN } from './tensor/logical-tensor.ts';

test('shapes are inferred as far as they are known', () => {
  const g = new Graph();
  const a = g.tensor({ dtype: 'f32', shape: [UNKNOWN, 4, 3] });
  const b = g.tensor({ dtype: 'f32', shape: [2, 3, UNKNOWN] });
  const [c, d, e] = [0, 1, 2].map(() => g.tensor({ dtype: 'f32' }));
  g.op('MatMul', { inputs: [a, b], outputs: [c] });
  g.op('ReduceSum', { attrs: { axes: [1] }, inputs: [c], outputs: [d] });
  g.op('Exp', { inputs: [g.tensor({ dtype: 'f32' })], outputs: [e] });
  const shapes = inferShapes(g.nodes, new Map());
  expect(shapes.get(c.id)).toEqual([2, 4, UNKNOWN]);
  expect(shapes.get(d.id)).toEqual([2, UNKNOWN]);
  expect(shapes.get(e.id)).toBe(null);
});
