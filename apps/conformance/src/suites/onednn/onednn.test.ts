import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { Graph, type OneDnnGraph } from '@tilewise/graph';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { caseName, type GraphCase, parseGraphCase, readCases, readGraph, storedCases } from './case-file.ts';
import { compare, gateOf, isClose, isTrusted, joined } from './compare.ts';
import { fill } from './fill.ts';
import { rewrite } from './rewrite.ts';
import { roleOf } from './roles.ts';
import { runGraphCase } from './run-graph-case.ts';
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

  test('strides alone, of what is produced too: its shape is inferred first', () => {
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
  });

  test.each<[string, Partial<GraphCase>, string]>([
    ['strides of another rank', { 'in-shapes': '0:4x3*1' }, 'the strides 1 are 1, for a shape of 2'],
    ['an order of other dimensions', { 'in-shapes': '0:*ac' }, 'ac is no order of 2 dimensions'],
    ['a shape that is none', { 'in-shapes': '0:axbx' }, "'axbx' are no integers with x between them"],
    ['a batch that is none', { mb: 'x' }, "mb is a whole number from 1 on, not 'x'"],
    [
      'an operation that is not there',
      { 'op-kind': '9:Log' },
      "op-kind: there is no operation '9' in the graph",
    ],
    ['a tensor that is not there', { dt: '9:f16' }, "dt: there is no tensor '9' in the graph"],
    ['an attribute that is not there', { 'op-attrs': '3:axs:0' }, "ReduceSum 3 has no attribute 'axs'"],
    ["an attribute's value", { 'op-attrs': '3:axes:0xa' }, "axes is of type s64[], not '0xa'"],
    ['a property', { 'tensor-property': '5:const' }, "tensor-property: 'const' is none of undef"],
  ])('%s is an error', (_, options, message) => {
    expect(() => changed(options)).toThrow(message);
  });

  test('groups follow from the shape of their scales, and that from them', () => {
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

  test('may be numbers or null; what is not known is said, and fails', async () => {
    const parsed = (rest: object) => parseGraphCase({ case: 'chain.json', ...rest });
    expect(parsed({ mb: 5, dt: null, 'expected-n-partitions': 0 })).toEqual({
      ...{ case: 'chain.json', mb: '5', 'expected-n-partitions': '0' },
    });
    expect(parsed({ in_shapes: '0:4x3' }).strange).toBe('the key in_shapes is not known');
    expect(await runGraphCase(parsed({ in_shapes: '0:4x3' }), '', cpuEngine())).toMatchObject({
      status: 'fail',
      reason: 'the key in_shapes is not known',
    });
    expect(parsed({ dt: ['f16'] }).strange).toBe('dt must be text, got ["f16"]');
    expect(parsed({ inputs: [{ id: 0 }] }).strange).toBe('inputs must be a list of { id, shape, stride }');
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

  test('an operation that is taken out passes on what was computed', () => {
    const ops = changed({ 'op-kind': '2:undef' });
    expect(ops.map(op => op.kind)).toEqual(['Exp', 'ReduceSum']);
    expect(ops[1].inputs[0].id).toBe(1);
  });

  test('make its name', () => {
    const name = caseName({ case: 'complex_fusion/mha/a.json', dt: 'f16', 'in-shapes': '0:2x3' });
    expect(name).toBe('a --in-shapes=0:2x3 --dt=f16');
  });
});

describe('the gate', () => {
  const difference = (got: readonly number[], want: readonly number[]) =>
    compare(
      Tensor.from(got, [got.length]),
      Tensor.from(want, [want.length]),
      gateOf(undefined, 0, 'f32', []),
    );

  test('takes an ε, and not four', () => {
    expect(isClose(difference([1, 1 + 2 ** -23], [1, 1]))).toBe(true);
    expect(isClose(difference([1, 1 + 2 ** -21], [1, 1]))).toBe(false);
  });

  describe('of a product that is not rounded yet', () => {
    const gate = { ...gateOf(undefined, 0, 'bf16', []), threshold: 0 };
    const failing = (got: readonly number[], exact: readonly number[], absolute: number) => {
      const shape = [exact.length];
      const given = Tensor.from(got, shape, { dtype: 'bf16' });
      return compare(given, Tensor.from(exact, shape), { ...gate, absolute }).failing;
    };
    const inBf16 = (x: number): number => Tensor.from([x], [1], { dtype: 'bf16' }).get(0);

    test('takes what some number within the absolute gate is rounded to, and nothing else', () => {
      // Between 1 and 1 + 4 ulp of bf16, ties being among them.
      const step = 2 ** -12;
      const near = Array.from({ length: 2 ** 7 + 1 }, (_, n) => 1 + n * step);
      const places = near.flatMap(x => [-1, 0, 1].map(side => x + side * 2 ** -24));
      for (const around of [0, step, 5 * step, 2 ** -7]) {
        for (const exact of near) {
          const inReach = places.filter(x => Math.abs(x - exact) <= around + 2 ** -24 * exact);
          const right = new Set(inReach.map(inBf16));
          for (const got of [inBf16(exact) - 2 ** -7, inBf16(exact), inBf16(exact) + 2 ** -7]) {
            if (got < 1 || got > 1 + 2 ** -5) continue;
            expect([exact, got, failing([got], [exact], around)]).toEqual([
              exact,
              got,
              right.has(got) ? 0 : 1,
            ]);
          }
        }
      }
    });

    test('takes no number for one that is none, or infinite, nor the other way round', () => {
      const [got, exact] = [
        [1, 1, NaN, Infinity, -Infinity],
        [NaN, Infinity, 1, 1, Infinity],
      ];
      expect(failing(got, exact, 0.1)).toBe(5);
      expect(failing([NaN, Infinity, Infinity], [NaN, Infinity, 3.4e38], 0.1)).toBe(0);
    });

    test('is no nearer to a neighbour where it has been rounded', () => {
      const [got, rounded] = [10, 9.9375].map(x => Tensor.from([x, 16], [2], { dtype: 'bf16' }));
      expect(compare(got, rounded, { ...gate, ofLargest: 10 * 2 ** -23 }).failing).toBe(1);
    });
  });

  test('distrusts a product or probabilities that are hardly more than zeros', () => {
    const trusted = (kind: string, zeros: number) => {
      const values = Array.from({ length: 100 }, (_, n) => (n < zeros ? 0 : 1));
      return isTrusted(kind, difference(values, values));
    };
    expect([trusted('MatMul', 90), trusted('MatMul', 91)]).toEqual([true, false]);
    expect([trusted('SoftMax', 92), trusted('SoftMax', 93)]).toEqual([true, false]);
    expect(trusted('ReLU', 100)).toBe(true);
  });

  test('takes the error of probabilities where they are read, and not beside them', () => {
    const graph = new Graph();
    const [x, y] = [
      graph.tensor({ dtype: 'f32', shape: [2, 4] }),
      graph.tensor({ dtype: 'f32', shape: [2, 4] }),
    ];
    const [p, halved, squared] = [
      graph.tensor({ dtype: 'f32' }),
      graph.tensor({ dtype: 'f32' }),
      graph.tensor({ dtype: 'f32' }),
    ];
    graph.op('SoftMax', { attrs: { axis: -1 }, inputs: [x], outputs: [p] });
    graph.op('Multiply', { inputs: [p, y], outputs: [halved] });
    graph.op('Square', { inputs: [x], outputs: [squared] });
    const { nodes } = graph;
    const thresholdOf = (id: number) =>
      gateOf(
        nodes.find(node => node.outputs.some(t => t.id === id)),
        0,
        'f32',
        nodes,
      ).threshold;
    expect(thresholdOf(halved.id)).toBe(10 * 2 ** -23);
    expect(thresholdOf(squared.id)).toBe(2 ** -23);
  });

  test('takes NaN and infinities for themselves alone', () => {
    expect(isClose(difference([NaN, -Infinity], [NaN, -Infinity]))).toBe(true);
    expect(isClose(difference([NaN], [0]))).toBe(false);
    expect(isClose(difference([Infinity], [-Infinity]))).toBe(false);
  });

  test('takes one point in a thousand when the norm of the error is small', () => {
    const want = new Array<number>(2048).fill(1);
    const got = (wrong: number) => want.map((x, n) => (n < wrong ? x + 1e-3 : x));
    expect(isClose(difference(got(2), want))).toBe(true);
    expect(isClose(difference(got(3), want))).toBe(false);
    // Of the parts of a tensor together, as of the tensor.
    const parts = [3, 0].map(wrong => difference(got(wrong), want));
    expect(isClose(joined(parts[0], parts[1]))).toBe(true);
    expect(isClose(joined(parts[0], difference(got(2), want)))).toBe(false);
  });
});

test('factors of a product have both signs and magnitudes, and a product that any 16-bit float holds', () => {
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

/** Of each graph with each operation that cases put into it, the case of fewest elements; none that takes more than a moment. */
function smallestOfEach(cases: readonly GraphCase[], graphs: string): GraphCase[] {
  const smallest = new Map<string, { readonly entry: GraphCase; readonly elements: number }>();
  for (const entry of cases) {
    const { graph } = rewrite(readGraph(graphs, entry), entry);
    const shapes = graph.flatMap(({ inputs }) => inputs.map(({ shape }) => shape));
    const elements = shapes.reduce(
      (sum, shape) => sum + shape.reduce((n, extent) => n * Math.max(extent, 1), 1),
      0,
    );
    const key = `${entry.case} ${entry['op-kind']}`;
    const known = smallest.get(key);
    if (elements <= MOST_ELEMENTS && (!known || elements < known.elements))
      smallest.set(key, { entry, elements });
  }
  return [...smallest.values()].map(({ entry }) => entry);
}

const MOST_ELEMENTS = 2 ** 20;

const folder = join(sharedDir() ?? '', 'conformance/onednn');

describe.skipIf(!existsSync(folder))('graphs of oneDNN', { timeout: 60_000 }, () => {
  const graphs = join(folder, 'graphs');
  const { cases } = existsSync(folder)
    ? readCases(graphs, join(folder, 'derived/sdpa-cases.json'))
    : { cases: [] };

  test('small cases of attention are one partition each, and right', async () => {
    const small = cases.filter(entry => (entry.matmul_gflop ?? 0) < 0.003);
    expect(small.length).toBeGreaterThan(3);
    for (const entry of small) {
      const outcome = await runGraphCase(entry, graphs, cpuEngine());
      expect(outcome, caseName(entry)).toMatchObject({
        status: 'pass',
        reason: expect.stringContaining(' attention'),
      });
    }
  });

  test('a batch that the list has resolved is the one that the option gives', () => {
    const batched = cases.filter(({ mb }) => mb !== undefined);
    expect(batched.length).toBeGreaterThan(0);
    for (const entry of batched) {
      const { inputs, ...open } = entry;
      const shapes = Graph.fromJSON(rewrite(readGraph(graphs, entry), open)).finalize().inputs;
      const resolved = (inputs ?? []).map(({ id, shape }) => [id, shape]);
      expect(new Map(shapes.map(({ id, shape }) => [id, shape]))).toEqual(new Map(resolved as []));
    }
  });

  test('graphs of older releases are one partition each', () => {
    const older = join(folder, 'graphs-legacy');
    // Two from before there were stats have the probabilities as a result, or take them.
    const stored = storedCases(older).cases.filter(entry => !entry.case.includes('Bert_large-train'));
    expect(stored.length).toBeGreaterThan(20);
    for (const entry of stored) {
      const partitions = Graph.fromJSON(rewrite(readGraph(older, entry), entry))
        .finalize()
        .partitions();
      expect(
        partitions.map(({ supported }) => supported),
        entry.case,
      ).toEqual([true]);
    }
  });

  // All of them take hours: `conformance onednn` runs them.
  test.each(['op-cases.json', 'pattern-cases.json'])(
    'of %s the smallest case of each operation is right',
    async file => {
      const { cases: all } = readCases(graphs, join(folder, 'derived', file));
      const sample = smallestOfEach(all, graphs);
      expect(sample.length).toBeGreaterThan(30);
      for (const entry of sample) {
        expect(await runGraphCase(entry, graphs, cpuEngine()), caseName(entry)).toMatchObject({
          status: 'pass',
        });
      }
    },
  );

  test('the smallest backward case is, too', async () => {
    const [backward] = cases
      .filter(entry => entry.case.includes('backward'))
      .sort((a, b) => (a.matmul_gflop ?? 0) - (b.matmul_gflop ?? 0));
    const outcome = await runGraphCase(backward, graphs, cpuEngine());
    expect(outcome).toMatchObject({ status: 'pass', reason: 'sdpa-backward attention' });
  });
});
