import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { checkGradients } from '../../../testing/compare/check-gradients.ts';
import { runOperation } from '../../../testing/compare/run-operation.ts';

const a = { values: [1, 5, 5, 4, -2, 4], shape: [2, 3] };

test('ArgMax gives the first of several largest elements', async () => {
  expect(await runOperation('ArgMax', [a], {}, ['i32'])).toEqual([[1, 0]]);
  expect(await runOperation('ArgMax', [a], { axis: 0, keep_dims: true }, ['i32'])).toEqual([[1, 0, 0]]);
});

test('TopK orders by value and then by index', async () => {
  expect(await runOperation('TopK', [a], { k: 2 }, ['f32', 'i32'])).toEqual([
    [5, 5, 4, 4],
    [1, 2, 0, 2],
  ]);
  expect(await runOperation('TopK', [a], { k: 3 }, ['f32', 'i32'])).toEqual([
    [5, 5, 1, 4, 4, -2],
    [1, 2, 0, 0, 2, 1],
  ]);
  expect(await runOperation('TopK', [a], { k: 1, axis: 0 }, ['f32', 'i32'])).toEqual([
    [4, 5, 5],
    [1, 0, 0],
  ]);
  await expect(runOperation('TopK', [a], { k: 4 }, ['f32', 'i32'])).rejects.toThrow('k must be 0 to 3');
});

test('TopK of no elements is empty', async () => {
  expect(await runOperation('TopK', [a], { k: 0 }, ['f32', 'i32'])).toEqual([[], []]);
});

test.each([
  [{}, [1, 6, 11, 4, 2, 6]],
  [{ exclusive: true }, [0, 1, 6, 0, 4, 2]],
  [{ reverse: true }, [11, 10, 5, 6, 2, 4]],
  [{ reverse: true, exclusive: true }, [10, 5, 0, 2, 4, 0]],
  [{ axis: 0 }, [1, 5, 5, 5, 3, 9]],
])('CumSum %j', async (attrs, expected) => {
  expect(await runOperation('CumSum', [a], attrs)).toEqual([expected]);
});

test('gradients of CumSum and of the values of TopK', async () => {
  const g = new GraphBuilder();
  const x = g.input([3, 4], { values: [3, -1, 2, -4, 1, 1, -3, 2.5, -2, 4, 1, -0.5] });
  const [values, indices] = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'i32' })];
  g.graph.op('TopK', {
    attrs: { k: 2 },
    inputs: [g.op('CumSum', [x], { axis: 1 })],
    outputs: [values, indices],
  });
  await checkGradients(g, g.op('Square', [values]), [x]);
});
