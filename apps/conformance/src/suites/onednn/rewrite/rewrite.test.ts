import { cpuEngine } from '@tilewise/core/cpu';
import type { OneDnnGraph } from '@tilewise/graph';
import { describe, expect, test } from 'vitest';
import { runGraphCase } from '../run/run-graph-case.ts';
import { caseName, type GraphCase, parseGraphCase } from './case-file.ts';
import { rewrite } from './rewrite.ts';
import { readStrides } from './shape-option.ts';

const tensor = (id: number, shape: readonly number[]) => ({
  id,
  dtype: 'f32',
  shape,
  stride: readStrides('', shape),
  layout_type: 'strided',
  property_type: 'undef',
});
const chain: OneDnnGraph = {
  version: '3.12.0',
  engine_kind: 'cpu',
  fpmath_mode: 'strict',
  graph: [
    { id: 1, name: '', kind: 'Exp', attrs: {}, inputs: [tensor(0, [2, 3])], outputs: [tensor(1, [2, 3])] },
    {
      id: 2,
      name: '',
      kind: 'Add',
      attrs: {},
      inputs: [tensor(1, [2, 3]), tensor(5, [3])],
      outputs: [tensor(2, [2, 3])],
    },
    {
      id: 3,
      name: '',
      kind: 'ReduceSum',
      attrs: { axes: { type: 's64[]', value: [1] } },
      inputs: [tensor(2, [2, 3])],
      outputs: [tensor(3, [2])],
    },
  ],
};
const changed = (options: Partial<GraphCase>) => rewrite(chain, { case: 'chain.json', ...options }).graph;

describe('the options of a case', () => {
  test('shapes and strides of inputs; what follows from them is left open', () => {
    const [exp, , sum] = changed({ 'in-shapes': '0:4x3*1x4+3:4' });
    expect(exp.inputs[0]).toMatchObject({ shape: [4, 3], stride: [1, 4] });
    expect(exp.outputs[0].shape).toEqual([-(2 ** 63)]);
    expect(sum.outputs[0].shape).toEqual([4]);
  });

  test('strides by the order of dimensions in memory', () => {
    expect(readStrides('acbd', [2, 3, 5, 7])).toEqual([105, 7, 21, 1]);
    expect(readStrides('cab', [2, 3, 5])).toEqual([3, 1, 6]);
  });

  test('strides alone, also of a tensor that an operation produces: its shape is inferred first', () => {
    const [exp, add, sum] = changed({ 'in-shapes': '0:4x3*ba+1:*ba+2:*3x1+3:*a' });
    expect(exp.outputs[0]).toMatchObject({ shape: [4, 3], stride: [1, 4] });
    expect(add.inputs[0]).toEqual(exp.outputs[0]);
    expect(add.outputs[0]).toMatchObject({ shape: [4, 3], stride: [3, 1] });
    expect(sum.outputs[0]).toMatchObject({ shape: [4], stride: [1] });
  });

  test('a batch goes to inputs that lead it to the result, and takes their strides along', () => {
    const [exp, add] = changed({ mb: '5', 'in-shapes': '0:*ba' });
    expect(exp.inputs[0]).toMatchObject({ shape: [5, 3], stride: [1, 5] });
    expect(add.inputs[1].shape).toEqual([3]);
    expect(changed({ mb: '5' })[0].inputs[0].stride).toEqual([3, 1]);
    expect(changed({ mb: '0' })[0].inputs[0].shape).toEqual([2, 3]);
  });

  test.each<[string, Partial<GraphCase>, string]>([
    ['strides of another rank', { 'in-shapes': '0:4x3*1' }, "there must be 2 strides, got '1'"],
    ['an order of other dimensions', { 'in-shapes': '0:*ac' }, 'ac is not an order of 2 dimensions'],
    ['a shape that is none', { 'in-shapes': '0:axbx' }, "'axbx' must be integers separated by x"],
    ['a batch that is none', { mb: 'x' }, "mb must be a whole number of at least 0, got 'x'"],
    [
      'an operation that does not exist',
      { 'op-kind': '9:Log' },
      "op-kind: there is no operation '9' in the graph",
    ],
    ['a tensor that does not exist', { dt: '9:f16' }, "dt: there is no tensor '9' in the graph"],
    ['an attribute that does not exist', { 'op-attrs': '3:axs:0' }, "ReduceSum 3 has no attribute 'axs'"],
    ["an attribute's value", { 'op-attrs': '3:axes:0xa' }, "axes is of type s64[], not '0xa'"],
    ['a property', { 'tensor-property': '5:const' }, 'tensor-property: must be one of undef'],
  ])('%s is an error', (_, options, message) => {
    expect(() => changed(options)).toThrow(message);
  });

  test('there are as many scales as channels, before a shape is inferred', () => {
    const quantize = {
      ...{ id: 1, name: '', kind: 'Quantize' },
      attrs: {
        qtype: { type: 'string', value: 'per_channel' },
        axis: { type: 's64', value: -1 },
        scales: { type: 'f32[]', value: [0.5, 2] },
        zps: { type: 's64[]', value: [0, 1] },
      },
      inputs: [tensor(0, [4, 2])],
      outputs: [{ ...tensor(1, [4, 2]), dtype: 'u8' }],
    } as const;
    const [op] = rewrite({ ...chain, graph: [quantize] }, { case: '', 'in-shapes': '0:4x3+1:*ba' }).graph;
    expect(op.attrs?.scales.value).toEqual([0.5, 2, 0.5]);
    expect(op.outputs[0]).toMatchObject({ shape: [4, 3], stride: [1, 4] });
  });

  test('groups follow from the shape of their scales, and the other way round', () => {
    const dequantize = {
      ...{ id: 1, name: '', kind: 'DynamicDequantize' },
      attrs: {
        qtype: { type: 'string', value: 'per_group' },
        group_shape: { type: 's64[]', value: [1, 32] },
      },
      inputs: [{ ...tensor(0, [4, 64]), dtype: 's8' }, tensor(1, [4, 2])],
      outputs: [tensor(2, [4, 64])],
    } as const;
    const grouped = (options: Partial<GraphCase>) =>
      rewrite({ ...chain, graph: [dequantize] }, { case: '', ...options }).graph[0];
    expect(grouped({ 'op-attrs': '1:group_shape:1x16' }).inputs[1]).toMatchObject({
      shape: [4, 4],
      stride: [4, 1],
    });
    expect(grouped({ 'in-shapes': '1:4x1' }).attrs?.group_shape.value).toEqual([1, 64]);
    expect(grouped({}).attrs?.group_shape.value).toEqual([1, 32]);
  });

  test('may be numbers or null; an unknown value fails with an error that names it', async () => {
    const parsed = (rest: object) => parseGraphCase({ case: 'chain.json', ...rest });
    expect(parsed({ mb: 5, dt: null, 'expected-n-partitions': 0 })).toEqual({
      ...{ case: 'chain.json', mb: '5', 'expected-n-partitions': '0' },
    });
    expect(parsed({ in_shapes: '0:4x3' }).notUnderstood).toBe('the key in_shapes is not known');
    expect(await runGraphCase(parsed({ in_shapes: '0:4x3' }), '', cpuEngine())).toMatchObject({
      status: 'fail',
      reason: 'the key in_shapes is not known',
    });
    expect(parsed({ dt: ['f16'] }).notUnderstood).toBe('dt must be text, got ["f16"]');
    expect(parsed({ 'attr-fpmath': 'f7' }).notUnderstood).toBe(
      "attr-fpmath must be a mode of oneDNN, got 'f7'",
    );
    expect(parsed({ 'attr-fpmath': 'tf32:false' }).notUnderstood).toBeUndefined();
    expect(parsed({ inputs: [{ id: 0 }] }).notUnderstood).toBe(
      'inputs must be a list of { id, shape, stride }',
    );
  });

  test('attributes, kinds, dtypes and properties', () => {
    const [exp, add, sum] = changed({
      'op-kind': '1:Log',
      'op-attrs': '3:axes:0x1*keep_dims:1',
      dt: 'bf16',
      'tensor-property': '5:constant',
    });
    expect(exp.kind).toBe('Log');
    expect(sum.attrs).toEqual({
      axes: { type: 's64[]', value: [0, 1] },
      keep_dims: { type: 'bool', value: 1 },
    });
    expect(add.inputs.map(t => [t.dtype, t.property_type])).toEqual([
      ['bf16', 'undef'],
      ['bf16', 'constant'],
    ]);
  });

  test('the input of a removed operation replaces its output', () => {
    const ops = changed({ 'op-kind': '2:undef' });
    expect(ops.map(op => op.kind)).toEqual(['Exp', 'ReduceSum']);
    expect(ops[1].inputs[0].id).toBe(1);
  });

  test('make its name', () => {
    const name = caseName({ case: 'complex_fusion/mha/a.json', dt: 'f16', 'in-shapes': '0:2x3' });
    expect(name).toBe('a --in-shapes=0:2x3 --dt=f16');
  });
});
