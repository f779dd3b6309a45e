import { InvalidShapeError, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../../testing/attention/attention-graph.ts';
import { expectSameInOnnx } from '../../../../testing/compare/expect-same-in-onnx.ts';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { sdpa } from '../../../frontends/cudnn/index.ts';
import { Graph } from '../../../graph.ts';
import { type LogicalTensor, UNKNOWN } from '../../../ir/tensor/logical-tensor.ts';
import { operations } from '../../../ops/table.ts';
import { toOnnx } from '../index.ts';
import { translations } from './to-onnx.ts';

type Make = (g: GraphBuilder) => unknown;

const x = (g: GraphBuilder): LogicalTensor => g.input([2, 3, 4]);
const unary =
  (kind: string, attrs = {}): Make =>
  g =>
    g.op(kind, [x(g)], attrs);
const positive =
  (kind: string, attrs = {}): Make =>
  g =>
    g.op(kind, [g.input([2, 3, 4], { values: Array.from({ length: 24 }, (_, n) => 0.3 + n / 5) })], attrs);
const binary =
  (kind: string, dtype: 'f32' | 'bool' = 'f32'): Make =>
  g =>
    g.op(kind, [x(g), g.input([3, 1])], {}, dtype);
const reduce =
  (kind: string): Make =>
  g => {
    g.op(kind, [x(g)], { axes: [-1, 0] });
    g.op(kind, [x(g)], { axes: [1], keep_dims: true });
  };
const truth = (g: GraphBuilder): LogicalTensor =>
  g.input([3, 4], { dtype: 'bool', values: [1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1] });
const list = (g: GraphBuilder, values: readonly number[], dtype: 'i32' | 'u8' | 'i8' | 'f32' = 'i32') =>
  g.input([values.length], { dtype, values });

/** Each operation that can be exported, in all its forms. */
const cases: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(
    [
      'Abs',
      'Cos',
      'Erf',
      'Exp',
      'HardSwish',
      'Mish',
      'Neg',
      'ReLU',
      'Round',
      'Sigmoid',
      'SiLU',
      'Sin',
      'Square',
      'Tanh',
    ].map(kind => [kind, unary(kind)]),
  ),
  ...Object.fromEntries(['Log', 'Reciprocal', 'Sqrt'].map(kind => [kind, positive(kind)])),
  ...Object.fromEntries(
    ['Add', 'Divide', 'Maximum', 'Minimum', 'Multiply', 'SquaredDifference', 'Subtract'].map(kind => [
      kind,
      binary(kind),
    ]),
  ),
  ...Object.fromEntries(
    ['L1', 'L2', 'Max', 'Mean', 'Min', 'Prod', 'Sum'].map(op => [`Reduce${op}`, reduce(`Reduce${op}`)]),
  ),
  ...Object.fromEntries(
    ['Equal', 'Greater', 'GreaterEqual', 'Less', 'LessEqual', 'NotEqual'].map(kind => [
      kind,
      binary(kind, 'bool'),
    ]),
  ),
  LogicalAnd: g => g.op('LogicalAnd', [truth(g), truth(g)], {}, 'bool'),
  LogicalOr: g => g.op('LogicalOr', [truth(g), g.op('LogicalNot', [truth(g)], {}, 'bool')], {}, 'bool'),
  LogicalNot: g => g.op('LogicalNot', [truth(g)], {}, 'bool'),
  Where: g => g.op('Where', [truth(g), x(g), g.input([2, 1, 1])]),
  Slice: g => {
    g.op('Slice', [x(g)], { axis: -1, start: 1, size: 2 });
    g.op('Slice', [x(g)], { axis: 2, start: 2, size: 3, step: -1 });
  },
  Split: g => {
    const outputs = [1, 3].map(() => g.graph.tensor({ dtype: 'f32' }));
    g.graph.add({ kind: 'Split', attrs: { axis: 2, sizes: [1, 3] }, inputs: [x(g)], outputs });
  },
  Concat: g => g.op('Concat', [x(g), x(g), g.input([2, 1, 4])], { axis: 1 }),
  Pad: unary('Pad', { before: [0, 1, 2], after: [1, 0, 0], value: 7 }),
  Expand: g => g.op('Expand', [g.input([3, 1])], { shape: [2, 1, 4] }),
  Take: g => g.op('Take', [x(g), g.input([2, 2], { dtype: 'i32', values: [0, -1, 2, 1] })], { axis: 1 }),
  GatherElements: g =>
    g.op('GatherElements', [g.input([2, 3]), g.input([2, 2], { dtype: 'i32', values: [0, 2, 1, 1] })], {
      axis: 1,
    }),
  ScatterElements: g => {
    const at = () => g.input([2, 2], { dtype: 'i32', values: [0, 2, 1, 0] });
    for (const reduction of ['add', 'none']) {
      g.op('ScatterElements', [g.input([2, 3]), at(), g.input([2, 2])], { axis: 1, reduction });
    }
  },
  TensorScatter: g => {
    const first = g.input([2], { dtype: 'i32', values: [1, 0] });
    g.op('TensorScatter', [g.input([2, 3, 4]), g.input([2, 2, 4]), first], { axis: 1 });
  },
  ArgMax: g => {
    g.op('ArgMax', [x(g)], { axis: 1 }, 'i32');
    g.op('ArgMax', [x(g)], { axis: -1, keep_dims: true }, 'i32');
  },
  CumSum: unary('CumSum', { axis: 1, exclusive: true, reverse: true }),
  Convolution: g => {
    const attrs = { strides: [2], pads_begin: [1], pads_end: [0], dilations: [2], groups: 2 };
    g.op('Convolution', [g.input([2, 4, 9]), g.input([6, 2, 3]), g.input([6])], attrs);
  },
  Clamp: unary('Clamp', { min: -0.5, max: 0.25 }),
  Elu: unary('Elu', { alpha: 0.7 }),
  GELU: g => {
    g.op('GELU', [x(g)]);
    g.op('GELU', [x(g)], { mode: 'gelu_tanh' });
  },
  HardSigmoid: unary('HardSigmoid', { alpha: 0.3, beta: 0.4 }),
  LeakyReLU: unary('LeakyReLU', { alpha: 0.1 }),
  Pow: positive('Pow', { beta: 1.5 }),
  Power: g => g.op('Power', [g.input([2, 3], { values: [0.5, 1, 2, 3, 0.1, 4] }), g.input([3])]),
  SoftPlus: unary('SoftPlus', { beta: 2 }),
  Select: g => g.op('Select', [truth(g), x(g), g.input([1])]),
  Mask: g => {
    g.op('Mask', [x(g), truth(g)]);
    g.op('Mask', [x(g), truth(g)], { invert: true });
  },
  TypeCast: g => g.op('TypeCast', [g.op('TypeCast', [x(g)], {}, 'f16')]),
  Reorder: unary('Reorder'),
  StaticTranspose: g => {
    g.op('StaticTranspose', [x(g)], { order: [1, -1, 0] });
    g.op('StaticTranspose', [x(g)], { order: [] });
  },
  StaticReshape: g => {
    g.op('StaticReshape', [x(g)], { shape: [0, -1], special_zero: true });
    g.op('StaticReshape', [truth(g)], { shape: [2, 6], special_zero: false }, 'bool');
  },
  BroadcastLike: g => g.op('BroadcastLike', [g.input([3, 1]), x(g)], { divisor: 2 }),
  Constant: g => {
    g.op('Add', [x(g), g.op('Constant', [], { value: [1, 2, 3, 4], shape: [4] })]);
    g.op('Constant', [], { value: [3], shape: [2, 2] }, 'i32');
  },
  GenIndex: g => {
    for (const axis of [0, -1]) g.op('GenIndex', [x(g)], { axis }, 'i32');
    g.op('GenIndex', [g.input([5])], { axis: 0 }, 'i32');
  },
  Gather: g => g.op('Gather', [g.input([4, 3]), list(g, [2, 0, 3, 9, -1])]),
  BiasAdd: g => {
    g.op('BiasAdd', [x(g), g.input([4])]);
    g.op('BiasAdd', [x(g), g.input([3])], { data_format: 'NCX' });
  },
  MatMul: g => {
    g.op('MatMul', [g.input([2, 3, 4]), g.input([4, 5]), g.input([5])]);
    g.op('MatMul', [g.input([2, 4, 3]), g.input([2, 5, 4])], { transpose_a: true, transpose_b: true });
    g.op('MatMul', [g.input([4]), g.input([2, 5, 4])], { transpose_a: true, transpose_b: true });
    g.op('MatMul', [g.input([2, 4, 3]), g.input([4])], { transpose_a: true });
    g.op('MatMul', [g.input([3, 4], { dtype: 'f16' }), g.input([4, 2], { dtype: 'f16' })]);
  },
  SoftMax: g => {
    const dead = () => g.input([2, 2], { values: [1, 2, -Infinity, -Infinity] });
    g.op('SoftMax', [x(g)], { axis: 1 });
    g.softmax(dead());
    const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'f32' })];
    g.graph.add({ kind: 'SoftMax', attrs: { axis: 1 }, inputs: [x(g)], outputs });
    g.op('SoftMax', [g.input([2, 3], { dtype: 'f16' })], { axis: -1 });
  },
  LogSoftmax: unary('LogSoftmax', { axis: 1 }),
  LayerNorm: g => {
    g.op('LayerNorm', [x(g), g.input([4]), g.input([4])], { epsilon: 0.1 });
    g.op('LayerNorm', [x(g)], { begin_norm_axis: 1 });
    const outputs = [0, 1, 2].map(() => g.graph.tensor({ dtype: 'f32' }));
    const attrs = { keep_stats: true, begin_norm_axis: -2 };
    g.graph.add({ kind: 'LayerNorm', attrs, inputs: [x(g)], outputs });
  },
  RMSNorm: g => {
    g.op('RMSNorm', [x(g), g.input([4])], { epsilon: 0.1 });
    g.op('RMSNorm', [x(g)]);
  },
  RotaryEmbedding: g => {
    const q = () => g.input([2, 3, 4, 8]);
    g.op('RotaryEmbedding', [q(), g.input([4, 4]), g.input([4, 4])]);
    g.op('RotaryEmbedding', [q(), g.input([2, 1, 4, 4]), g.input([2, 1, 4, 4])], { interleaved: true });
    g.op('RotaryEmbedding', [q(), g.input([1, 1, 4, 2]), g.input([1, 1, 4, 2])], { inverse: true });
  },
  TopK: g => {
    const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'i32' })];
    g.graph.add({ kind: 'TopK', attrs: { axis: 1, k: 2 }, inputs: [x(g)], outputs });
  },
  CrossEntropy: g => g.op('CrossEntropy', [g.input([3, 5]), list(g, [4, 0, 2])]),
  Quantize: g => {
    g.op('Quantize', [x(g)], { scales: [0.01], zps: [3] }, 'i8');
    g.op('Quantize', [x(g)], { scales: [0.002, 0.1, 0.02], qtype: 'per_channel', axis: 1 }, 'u8');
  },
  Dequantize: g => {
    g.op('Dequantize', [g.op('Quantize', [x(g)], { scales: [0.01] }, 'f8e4m3')], { scales: [0.01] });
    g.op('Dequantize', [list(g, [250, 3], 'u8')], { scales: [0.5], zps: [7] });
    const signed = { scales: [0.5], zps: [3] };
    g.op('Dequantize', [g.op('Quantize', [x(g)], signed, 'i8')], signed);
    const channels = { scales: [0.5, 2], zps: [1, -3], qtype: 'per_channel', axis: 0 };
    g.op('Dequantize', [list(g, [-100, 3], 'i8')], channels);
  },
  DynamicQuantize: g => {
    g.op('DynamicQuantize', [x(g), list(g, [0.01], 'f32'), list(g, [3])], {}, 'u8');
    const channels = { qtype: 'per_channel', axis: -1 };
    g.op('DynamicQuantize', [x(g), list(g, [0.01, 0.02, 0.1, 1], 'f32')], channels, 'i8');
  },
  DynamicDequantize: g => {
    const bytes = () => g.input([2, 4], { dtype: 'i8', values: [-8, -1, 2, 7, 1, 2, 3, 4] });
    g.op('DynamicDequantize', [bytes(), list(g, [0.01], 'f32'), list(g, [3])]);
    g.op('DynamicDequantize', [bytes(), list(g, [0.5, 2], 'f32')], { qtype: 'per_channel', axis: 0 });
    const groups = { qtype: 'per_group', axis: 1, group_shape: [1, 2] };
    g.op(
      'DynamicDequantize',
      [bytes(), g.input([2, 2]), g.input([2, 2], { dtype: 'i8', values: [1, 2, 3, 4] })],
      groups,
    );
  },
  Sdpa: g => {
    const [q, k, v] = [g.input([1, 4, 5, 8]), g.input([1, 2, 7, 8]), g.input([1, 2, 7, 6])];
    sdpa(g.graph, { q, k, v, attnScale: 0.4, diagonalBandRightBound: 0, bias: g.input([4, 1, 7]) });
  },
  End: g => {
    const e = g.op('Exp', [x(g)]);
    g.op('Neg', [e]);
    g.graph.op('End', { inputs: [e], outputs: [] });
  },
};

test('every operation that has a translation is exported', () => {
  expect(Object.keys(cases).sort()).toEqual(Object.keys(translations).sort());
});

test.each(Object.entries(cases))('%s', async (_, make) => {
  const g = new GraphBuilder();
  make(g);
  await expectSameInOnnx(g, 2e-5);
});

test('f16, computed as such', async () => {
  const g = new GraphBuilder();
  const h = g.op('Multiply', [g.input([3, 4], { dtype: 'f16' }), g.scalar(0.5)], {}, 'f16');
  g.op('Sigmoid', [h], {}, 'f16');
  await expectSameInOnnx(g, 2e-3);
});

test('operations that ONNX cannot express are named', () => {
  const g = new GraphBuilder();
  g.graph.op('Dropout', {
    id: 7,
    name: 'drop',
    attrs: { p: 0.1 },
    inputs: [x(g), g.scalar(1n, 'i64'), g.scalar(0n, 'i64')],
    outputs: [g.graph.tensor({ dtype: 'f32' })],
  });
  expect(() => toOnnx(g.graph)).toThrow("operation Dropout 7 'drop': has no equivalent in ONNX");
  expect(() => toOnnx(g.graph)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  const none = operations.map(({ kind }) => kind).filter(kind => !Object.hasOwn(translations, kind));
  expect(none.filter(kind => !kind.includes('Backward')).sort()).toEqual(['Dropout', 'RNG', 'Wildcard']);
});

test('a graph whose shapes contradict each other is refused, by operation', () => {
  const g = new Graph();
  const of = (shape?: readonly number[]) => g.tensor({ dtype: 'f32', shape });
  g.op('MatMul', { inputs: [of([2, 3]), of([4, 5])], outputs: [of()] });
  expect(() => toOnnx(g)).toThrow(InvalidShapeError);
  expect(() => toOnnx(g)).toThrow('operation MatMul 0 of tensors 0, 1: MatMul cannot multiply');
});

test('unknown extents stay open, and their axes get names', async () => {
  const graph = new Graph();
  const [a, b, c] = [
    graph.tensor({ id: 0, dtype: 'f32', shape: [UNKNOWN, 4] }),
    graph.tensor({ id: 1, dtype: 'f32', shape: [4, 3] }),
    graph.tensor({ id: 2, dtype: 'f32' }),
  ];
  graph.op('MatMul', { inputs: [a, b], outputs: [c] });
  const model = toOnnx(graph);
  expect(new TextDecoder('latin1').decode(model)).toContain('t0_0');
  const ones = (shape: number[]) => Tensor.from(new Array(shape[0] * shape[1]).fill(1), shape);
  for (const rows of [1, 5]) {
    const { t2 } = await runOnnx(model, { t0: ones([rows, 4]), t1: ones([4, 3]) });
    expect(t2.shape).toEqual([rows, 3]);
    expect(new Set(t2.toFloat64())).toEqual(new Set([4]));
  }
});

test('names of tensors that the graph does not have, and names that are not texts, are refused', () => {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2], name: 'x' });
  g.op('Exp', { inputs: [x], outputs: [g.tensor({ dtype: 'f32' })] });
  expect(() => toOnnx(g, { name: {} as never })).toThrow(
    'options.name must be a string that is not empty, got Object',
  );
  expect(() => toOnnx(g, { names: { x: 'input' } as never })).toThrow(
    'options.names.x is not a tensor of the graph',
  );
});
