import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf, checkGradients } from '../../../testing/compare/check-gradients.ts';
import { runOperation } from '../../../testing/compare/run-operation.ts';

const a = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3] };
const b = { values: [7, 8, 9, 10], shape: [2, 2] };
const ids = (values: readonly number[], shape: readonly number[]) =>
  ({ values, shape, dtype: 'i32' }) as const;

test.each([
  [{ axis: 1, start: 1, size: 2 }, [2, 3, 5, 6]],
  [{ axis: -2, start: 1, size: 1 }, [4, 5, 6]],
  [{ axis: 1, size: 2, step: 2 }, [1, 3, 4, 6]],
  [{ axis: 1, start: 2, size: 3, step: -1 }, [3, 2, 1, 6, 5, 4]],
])('Slice %j', async (attrs, expected) => {
  expect(await runOperation('Slice', [a], attrs)).toEqual([expected]);
});

test('Slice keeps integers', async () => {
  const large = ids([2 ** 30 + 1, 5], [2]);
  expect(await runOperation('Slice', [large], { axis: 0, size: 1 }, ['i32'])).toEqual([[2 ** 30 + 1]]);
});

test.each([
  [{ axis: 2, size: 1 }, 'has no axis 2 in [2,3]'],
  [
    { axis: 1, start: 2, size: 2 },
    'of 2 elements from 2 with step 1 does not fit the 3 elements along axis 1',
  ],
  [{ axis: 1, start: 1, size: 3, step: -1 }, 'does not fit the 3 elements'],
  [{ axis: 1, size: 1, step: 0 }, 'step 0'],
])('Slice %j is refused', async (attrs, message) => {
  await expect(runOperation('Slice', [a], attrs)).rejects.toThrow(message);
});

test('SliceBackward puts gradients at the positions of the sliced elements', async () => {
  const attrs = { axis: 1, start: 4, step: -2, extent: 5 };
  expect(await runOperation('SliceBackward', [{ values: [1, 2, 3, 4], shape: [2, 2] }], attrs)).toEqual([
    [0, 0, 2, 0, 1, 0, 0, 4, 0, 3],
  ]);
});

test('Pad surrounds a tensor with a value', async () => {
  const attrs = { before: [0, 1], after: [1, 0], value: 9 };
  expect(await runOperation('Pad', [a], attrs)).toEqual([[9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9]]);
  await expect(runOperation('Pad', [a], { before: [1], after: [1] })).rejects.toThrow(
    'needs counts ≥ 0 for each',
  );
});

test('Concat joins any number of tensors in order', async () => {
  expect(await runOperation('Concat', [a, b], { axis: 1 })).toEqual([[1, 2, 3, 7, 8, 4, 5, 6, 9, 10]]);
  expect(await runOperation('Concat', [a, b, a], { axis: -1 })).toEqual([
    [1, 2, 3, 7, 8, 1, 2, 3, 4, 5, 6, 9, 10, 4, 5, 6],
  ]);
  expect(await runOperation('Concat', [a], { axis: 0 })).toEqual([a.values]);
  await expect(runOperation('Concat', [a, b], { axis: 0 })).rejects.toThrow(
    'cannot join [2,3] and [2,2] along axis 0',
  );
  await expect(runOperation('Concat', [a, ids([1], [1])], { axis: 0 })).rejects.toThrow(
    "input 'src' (tensor 1) must be f32, the dtype of an earlier tensor, got i32",
  );
});

test('Split reverses Concat', async () => {
  expect(await runOperation('Split', [a], { axis: 1, sizes: [2, 0, 1] }, ['f32', 'f32', 'f32'])).toEqual([
    [1, 2, 4, 5],
    [],
    [3, 6],
  ]);
  await expect(runOperation('Split', [a], { axis: 1, sizes: [2, 2] }, ['f32', 'f32'])).rejects.toThrow(
    'into [2,2] does not add up to the 3 elements of axis 1',
  );
});

test('ScatterElements with the reduction none takes the last update', async () => {
  const updates = { values: [10, 20, 30, 40], shape: [2, 2] };
  const attrs = { axis: 1, reduction: 'none' };
  expect(await runOperation('ScatterElements', [a, ids([2, 2, 0, 7], [2, 2]), updates], attrs)).toEqual([
    [1, 2, 20, 30, 5, 6],
  ]);
});

test.each(['Take', 'GatherElements'])(
  '%s reads the nearest element for an index outside, without a gradient',
  async kind => {
    const g = new GraphBuilder();
    const src = g.input([3], { values: [1, 2, 3] });
    const y = g.op(kind, [src, g.input([3], { dtype: 'i32', values: [1, 7, -9] })], {});
    const { backward, own } = await backwardOf(g, y, [src], () => 1);
    const results = await g.graph.run(cpuEngine(), g.bindings);
    expect([...results[y.id].toFloat64()]).toEqual([2, 3, 1]);
    const { [backward.gradients.get(src.id)?.id ?? -1]: gradient } = await backward.run(cpuEngine(), own);
    expect([...gradient.toFloat64()]).toEqual([0, 1, 0]);
  },
);

test('Take has a gradient with unsigned indices', async () => {
  const g = new GraphBuilder();
  const src = g.input([3, 2]);
  await checkGradients(g, g.op('Take', [src, g.input([2], { dtype: 'u32', values: [2, 0] })], {}), [src]);
});

test('Take takes slices along any axis, and counts negative indices from the end', async () => {
  expect(await runOperation('Take', [a, ids([2, -3, 1, -1], [2, 2])], { axis: 1 })).toEqual([
    [3, 1, 2, 3, 6, 4, 5, 6],
  ]);
  expect(await runOperation('Take', [a, ids([-1], [])], {})).toEqual([[4, 5, 6]]);
});

test('TensorScatter writes an update at a different position in each entry, and skips elements outside', async () => {
  const update = { values: [10, 20, 30, 40], shape: [2, 2] };
  const run = (...first: number[]) =>
    runOperation('TensorScatter', [a, update, ids(first, [2])], { axis: 1 });
  expect(await run(1, 0)).toEqual([[1, 10, 20, 30, 40, 6]]);
  expect(await run(2, -1)).toEqual([[1, 2, 10, 40, 5, 6]]);
  await expect(runOperation('TensorScatter', [a, update, ids([0], [1])], { axis: 1 })).rejects.toThrow(
    'cannot write [2,2] into [2,3] along axis 1 with first of shape [1]',
  );
});

test('Expand broadcasts', async () => {
  expect(await runOperation('Expand', [{ values: [1, 2], shape: [2, 1] }], { shape: [2, 1, 2] })).toEqual([
    [1, 1, 2, 2, 1, 1, 2, 2],
  ]);
  await expect(runOperation('Expand', [a], { shape: [2, 2] })).rejects.toThrow('cannot broadcast');
});

test('GatherElements and ScatterElements along any axis', async () => {
  expect(await runOperation('GatherElements', [a, ids([2, 0, 1, 1], [2, 2])], { axis: 1 })).toEqual([
    [3, 1, 5, 5],
  ]);
  expect(await runOperation('GatherElements', [a, ids([1, 0], [1, 2])], { axis: 0 })).toEqual([[4, 2]]);
  const updates = { values: [10, 20, 30, 40], shape: [2, 2] };
  expect(
    await runOperation('ScatterElements', [a, ids([2, 2, 0, -1], [2, 2]), updates], { axis: 1 }),
  ).toEqual([[1, 2, 33, 34, 5, 6]]);
  const column = { values: [10, 20], shape: [1, 2] };
  expect(await runOperation('ScatterElements', [a, ids([1, 0], [1, 2]), column], { axis: 0 })).toEqual([
    [1, 22, 3, 14, 5, 6],
  ]);
  await expect(runOperation('GatherElements', [a, ids([0], [1])], { axis: 0 })).rejects.toThrow(
    'do not fit [2,3]',
  );
});

describe('gradients equal difference quotients', () => {
  test.each<
    readonly [
      string,
      (g: GraphBuilder, x: ReturnType<GraphBuilder['input']>) => ReturnType<GraphBuilder['input']>,
    ]
  >([
    ['Slice', (g, x) => g.op('Slice', [x], { axis: 1, start: 3, size: 2, step: -2 })],
    ['Pad', (g, x) => g.op('Pad', [x], { before: [1, 0], after: [0, 2] })],
    ['Concat', (g, x) => g.op('Concat', [x, g.op('Square', [x]), x], { axis: 1 })],
    [
      'GatherElements',
      (g, x) =>
        g.op('GatherElements', [x, g.input([2, 2], { dtype: 'i32', values: [3, 3, 0, 1] })], { axis: 1 }),
    ],
    [
      'ScatterElements with indices outside',
      (g, x) => {
        const at = g.input([3, 1], { dtype: 'i32', values: [7, 1, -2] });
        return g.op('ScatterElements', [x, at, g.op('Slice', [g.op('Exp', [x])], { axis: 1, size: 1 })], {
          axis: 1,
        });
      },
    ],
    [
      'ScatterElements',
      (g, x) => {
        const at = g.input([3, 1], { dtype: 'i32', values: [1, 1, 3] });
        return g.op('ScatterElements', [x, at, g.op('Slice', [g.op('Square', [x])], { axis: 1, size: 1 })], {
          axis: 1,
        });
      },
    ],
    [
      'TensorScatter',
      (g, x) => {
        const at = g.input([3], { dtype: 'i32', values: [0, 1, 3] });
        const update = g.op('Slice', [g.op('Square', [x])], { axis: 1, size: 1 });
        return g.op('TensorScatter', [x, update, at], { axis: 1 });
      },
    ],
    [
      'TensorScatter of elements outside',
      (g, x) => {
        const at = g.input([3], { dtype: 'i32', values: [-1, 3, 1] });
        const update = g.op('Slice', [g.op('Square', [x])], { axis: 1, size: 2 });
        return g.op('TensorScatter', [x, update, at], { axis: 1 });
      },
    ],
    [
      'Split',
      (g, x) => {
        const parts = [0, 1].map(() => g.graph.tensor({ dtype: 'f32' }));
        g.graph.op('Split', { attrs: { axis: 1, sizes: [2, 2] }, inputs: [x], outputs: parts });
        return g.op('Multiply', parts);
      },
    ],
  ])('%s', async (_, write) => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    await checkGradients(g, write(g, x), [x]);
  });

  test('of a Split of which one part is read', async () => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    const parts = [0, 1].map(() => g.graph.tensor({ dtype: 'f32' }));
    g.graph.op('Split', { attrs: { axis: 1, sizes: [1, 3] }, inputs: [x], outputs: parts });
    await checkGradients(g, g.op('Square', [parts[1]]), [x]);
  });

  test('of a Split whose parts have gradients of different dtypes', async () => {
    const g = new GraphBuilder();
    const x = g.input([4], { dtype: 'f16', values: [1, 2, 3, 4] });
    const parts = [0, 1].map(() => g.graph.tensor({ dtype: 'f16' }));
    g.graph.op('Split', { attrs: { axis: 0, sizes: [2, 2] }, inputs: [x], outputs: parts });
    const product = g.op('Multiply', [parts[0], g.input([2], { values: [5, 6] })]);
    const y = g.op('Add', [product, g.op('Square', [parts[1]], {}, 'f16')], {}, 'f16');
    const { backward, own } = await backwardOf(g, y, [x], () => 1);
    const results = await backward.run(cpuEngine(), own);
    const dx = results[backward.gradients.get(x.id)?.id ?? -1];
    expect([dx.dtype, ...dx.toFloat64()]).toEqual(['f16', 5, 6, 6, 8]);
  });
});
