import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOperation } from '../../testing/compare/run-operation.ts';
import { Graph } from '../graph.ts';
import type { Attributes } from '../ir/schema/attribute.ts';
import type { GraphDType } from '../ir/tensor/dtype.ts';

const line = { strides: [1], pads_begin: [0], pads_end: [0], dilations: [1] };

const zeros = (shape: readonly number[], dtype: 'f32' | 'i32') => {
  const count = shape.reduce((n, extent) => n * extent, 1);
  return { values: new Array<number>(count).fill(0), shape, dtype };
};

test.each<readonly [string, readonly (readonly number[])[], object, string]>([
  ['MatMul', [[3, 4], [4, 5], [4]], {}, 'cannot broadcast [3,5] with [4]'],
  [
    'MatMul',
    [
      [3, 4],
      [4, 5],
      [2, 3, 5],
    ],
    {},
    'needs operands that broadcast to [3,5], got [2,3,5]',
  ],
  ['LayerNorm', [[3, 4], [3], [4]], {}, 'cannot broadcast [3,4] with [3] with [4]'],
  ['LayerNorm', [[3, 4], [4], [5]], {}, 'cannot broadcast [3,4] with [4] with [5]'],
  ['RMSNorm', [[3, 4], [3]], {}, 'cannot broadcast [3,4] with [3]'],
  ['LayerNormBackward', [[3, 4], [3, 4], [3]], {}, 'cannot broadcast [3,4] with [3,4] with [3]'],
  ['Convolution', [[1, 1, 5], [2, 1, 3], [3]], line, 'needs a bias of [2], got [3]'],
  [
    'ConvolutionBackwardData',
    [
      [1, 2, 4],
      [2, 1, 3],
    ],
    { ...line, shape: [1, 1, 5] },
    'needs a gradient of [1,2,3], got [1,2,4]',
  ],
  [
    'ConvolutionBackwardWeights',
    [
      [1, 1, 5],
      [1, 1, 3],
    ],
    { ...line, shape: [2, 1, 3] },
    'needs a gradient of [1,2,3], got [1,1,3]',
  ],
])('%s of %j is refused', async (kind, shapes, attributes, rule) => {
  const operands = shapes.map(shape => zeros(shape, 'f32'));
  await expect(runOperation(kind, operands, { ...attributes })).rejects.toThrow(rule);
});

test.each<readonly [string, readonly number[], string]>([
  ['Take', [2], 'cannot read from axis 1 of [3,0], which is empty'],
  ['GatherElements', [3, 2], 'has indices [3,2] along axis 1, which do not fit [3,0]'],
])('%s of elements of an empty axis is refused, and of none is empty', async (kind, at, rule) => {
  const run = (indices: readonly number[]) =>
    runOperation(kind, [zeros([3, 0], 'f32'), zeros(indices, 'i32')], { axis: 1 });
  await expect(run(at)).rejects.toThrow(rule);
  expect(await run([...at.slice(0, -1), 0])).toEqual([[]]);
});

test('SliceBackward of more elements than fit its extent is refused', async () => {
  const run = (size: number, attributes: Attributes) =>
    runOperation('SliceBackward', [zeros([size], 'f32')], { axis: 0, extent: 4, ...attributes });
  expect(await run(2, { start: 1, step: 2 })).toEqual([[0, 0, 0, 0]]);
  expect(await run(0, { start: 9 })).toEqual([[0, 0, 0, 0]]);
  await expect(run(5, {})).rejects.toThrow(
    'SliceBackward of 5 elements from 0 with step 1 does not fit the 4 elements along axis 0',
  );
  await expect(run(2, { start: 2, step: 2 })).rejects.toThrow('does not fit the 4 elements');
  await expect(run(2, { start: 0, step: -1 })).rejects.toThrow('does not fit the 4 elements');
  await expect(run(1, { start: 0, step: 0 })).rejects.toThrow('does not fit the 4 elements');
});

test('CrossEntropy with another number of labels is refused', async () => {
  for (const labels of [1, 4]) {
    const operands = [zeros([3, 4], 'f32'), zeros([labels], 'i32')];
    await expect(runOperation('CrossEntropy', operands)).rejects.toThrow('needs labels of [3], got');
    const gradient = [...operands, zeros([3], 'f32')];
    await expect(runOperation('CrossEntropyBackward', gradient)).rejects.toThrow('needs labels of [3], got');
  }
  const operands = [zeros([3, 4], 'f32'), zeros([3], 'i32'), zeros([1], 'f32')];
  await expect(runOperation('CrossEntropyBackward', operands)).rejects.toThrow('needs a diff_loss of [3]');
});

test('shapes that are known only when a graph is compiled are checked at that time', () => {
  const compile = (
    kind: string,
    attrs: Attributes,
    dtypes: readonly GraphDType[],
    shapes: readonly (readonly number[])[],
  ) => {
    const g = new Graph();
    const inputs = dtypes.map(dtype => g.tensor({ dtype }));
    g.add({ kind, attrs, inputs, outputs: [g.tensor({ dtype: 'f32' })] });
    const known = Object.fromEntries(inputs.map(({ id }, n) => [id, { shape: shapes[n] }]));
    return () => g.compile(cpuEngine(), { inputs: known });
  };
  const random = ['f32', 'i64', 'i64'] as const;
  for (const kind of ['Dropout', 'RNG']) {
    expect(compile(kind, { p: 0.5 }, random, [[4], [1], []])).not.toThrow();
    expect(compile(kind, { p: 0.5 }, random, [[4], [2], []])).toThrow(
      `${kind} needs scalars, of shape [] or [1], got [2]`,
    );
  }
  const groups = (group_shape: readonly number[], zeroPoints: readonly number[]) =>
    compile(
      'DynamicDequantize',
      { qtype: 'per_group', group_shape },
      ['i8', 'f32', 'i8'],
      [[2, 4], [2, 2], zeroPoints],
    );
  expect(groups([1, 2], [2, 2])).not.toThrow();
  expect(groups([1, 2], [1])).toThrow('needs zero points of [2,2], got [1]');
  expect(groups([1, 2, 3], [2, 2])).toThrow('scales [2,2] in groups of [1,2,3] do not cover [2,4]');
});
