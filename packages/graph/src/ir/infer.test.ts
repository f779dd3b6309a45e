import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { inferShapes } from './infer.ts';
import type { Attributes } from './schema/attribute.ts';
import { type LogicalShape, UNKNOWN } from './tensor/logical-tensor.ts';

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

/** The inferred shape of the result of one operation. */
function inferred(kind: string, shapes: readonly LogicalShape[], attrs: Attributes = {}): LogicalShape {
  const g = new Graph();
  const isIndex = (n: number): boolean => kind === 'TensorScatter' && n === 2;
  const inputs = shapes.map((shape, n) => g.tensor({ dtype: isIndex(n) ? 'i32' : 'f32', shape }));
  const y = g.tensor({ dtype: 'f32' });
  g.add({ kind, attrs, inputs, outputs: [y] });
  return inferShapes(g.nodes, new Map()).get(y.id) ?? null;
}

test.each<readonly [string, readonly LogicalShape[], Attributes, readonly number[]]>([
  [
    'RotaryEmbedding',
    [
      [2, UNKNOWN, 8],
      [5, 4],
      [5, 4],
    ],
    {},
    [2, UNKNOWN, 8],
  ],
  [
    'RotaryEmbedding',
    [
      [2, 5, UNKNOWN],
      [5, 4],
      [5, 4],
    ],
    {},
    [2, 5, UNKNOWN],
  ],
  [
    'RotaryEmbedding',
    [
      [2, 5, 8],
      [UNKNOWN, 4],
      [5, 4],
    ],
    {},
    [2, 5, 8],
  ],
  ['TensorScatter', [[UNKNOWN, 8, 4], [2, 1, 4], [2]], { axis: 1 }, [UNKNOWN, 8, 4]],
  ['TensorScatter', [[2, 8, 4], [2, UNKNOWN, 4], [2]], { axis: 1 }, [2, 8, 4]],
  ['TensorScatter', [[2, UNKNOWN, 4], [2, 3, 4], [2]], { axis: 1 }, [2, UNKNOWN, 4]],
])('%s of %j, where an unknown extent may fit', (kind, shapes, attrs, expected) => {
  expect(inferred(kind, shapes, attrs)).toEqual(expected);
});

test('operands that may not broadcast may have unknown extents', () => {
  expect(
    inferred(
      'Add',
      [
        [UNKNOWN, 3],
        [2, 3],
      ],
      { auto_broadcast: 'none' },
    ),
  ).toEqual([2, 3]);
});
