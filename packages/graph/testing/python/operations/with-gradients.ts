import {
  binary,
  conditions,
  edges,
  indices,
  type OperationCase,
  positive,
  unary,
  x,
} from './operation-case.ts';

/** Operations whose results and gradients are compared within 3e-6. */
export const withGradients: readonly OperationCase[] = [
  ...['Abs', 'Exp', 'HardSwish', 'Mish', 'Neg', 'ReLU', 'Round', 'SiLU', 'Sigmoid', 'Square', 'Tanh'].map(k =>
    unary(k),
  ),
  ...['Log', 'Reciprocal', 'Sqrt'].map(kind => unary(kind, {}, positive)),
  unary('Pow', { beta: 1.7 }, positive),
  unary('SiLU', {}, [-200, 200, ...edges.slice(2)]),
  unary('Clamp', { min: -0.5, max: 2.5 }),
  unary('Elu', { alpha: 0.7 }),
  unary('LeakyReLU', { alpha: 0.1 }),
  unary('HardSigmoid', { alpha: 0.25, beta: 0.5 }),
  unary('SoftPlus', { beta: 2 }),
  unary('GELU', { mode: 'gelu_erf' }),
  unary('GELU', { mode: 'gelu_tanh' }),
  ...['Add', 'Subtract', 'Multiply', 'Divide', 'Maximum', 'Minimum', 'SquaredDifference'].flatMap(kind => [
    binary(kind),
    binary(kind, [3, 1]),
  ]),
  ...['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceProd'].flatMap(
    kind => [unary(kind, { axes: [1] }), unary(kind, { axes: [0, 1], keep_dims: true })],
  ),
  unary('SoftMax', { axis: 0 }),
  unary('SoftMax', { axis: 1, mode: 'inf_as_zero' }),
  unary('LogSoftmax'),
  unary('StaticTranspose', { order: [] }),
  unary('StaticReshape', { shape: [2, -1, 3], special_zero: false }),
  [
    'MatMul with a bias',
    g => {
      const all = [g.input([2, 3, 4]), g.input([5, 4]), g.input([5])];
      g.op('MatMul', all, { transpose_b: true });
      return all;
    },
  ],
  [
    'MatMul of a row and a column',
    g => {
      const all = [g.input([4]), g.input([4])];
      g.op('MatMul', all);
      return all;
    },
  ],
  [
    'BiasAdd',
    g => {
      const all = [g.input([2, 3, 4]), g.input([3])];
      g.op('BiasAdd', all, { data_format: 'NCX' });
      return all;
    },
  ],
  [
    'Select',
    g => {
      const cond = g.input([3, 1], { dtype: 'bool', values: [1, 0, 1] });
      const all = [x(g), x(g, positive)];
      g.op('Select', [cond, ...all]);
      return all;
    },
  ],
  [
    'LayerNorm',
    g => {
      const all = [g.input([2, 3, 4]), g.input([4]), g.input([4])];
      g.op('LayerNorm', all);
      return all;
    },
  ],
  [
    'RMSNorm',
    g => {
      const all = [g.input([2, 3, 4]), g.input([3, 4])];
      g.op('RMSNorm', all, { begin_norm_axis: 1 });
      return all;
    },
  ],
  [
    'Gather with rows out of range',
    g => {
      const table = x(g);
      g.op('Gather', [table, g.input([2, 2], { dtype: 'i32', values: [2, 0, 9, -1] })]);
      return [table];
    },
  ],
  [
    'Gather by a number that is known',
    g => {
      const table = g.input([3, 4]);
      g.op('Gather', [table, g.op('Constant', [], { value: [2] }, 'i32')]);
      return [table];
    },
  ],
  [
    'CrossEntropy of one row with a label that is known',
    g => {
      const logits = g.input([4], { values: [0.5, -1, 2, 0] });
      g.op('CrossEntropy', [logits, g.op('Constant', [], { value: [3] }, 'i32')]);
      return [logits];
    },
  ],
  [
    'CrossEntropy',
    g => {
      const logits = x(g);
      g.op('CrossEntropy', [logits, g.input([3], { dtype: 'i32', values: [1, 3, 0] })]);
      return [logits];
    },
  ],
  [
    'Dropout',
    g => {
      const src = x(g);
      g.op('Dropout', [src, g.scalar(2n ** 40n, 'i64'), g.scalar(7n, 'i64')], { p: 0.4 });
      return [src];
    },
  ],
  unary('Sin'),
  unary('Cos'),
  unary('Erf'),
  [
    'Power',
    g => {
      const all = [x(g, positive), g.input([4], { values: [2, 0.5, -1, 1.7] })];
      g.op('Power', all);
      return all;
    },
  ],
  [
    'RotaryEmbedding',
    g => {
      const src = g.input([2, 3, 6]);
      g.op('RotaryEmbedding', [src, g.input([3, 2]), g.input([3, 2])], { interleaved: true });
      return [src];
    },
  ],
  [
    'Where',
    g => {
      const all = [x(g), g.input([4])];
      g.op('Where', [conditions(g)[0], ...all]);
      return all;
    },
  ],
  [
    'Concat',
    g => {
      const all = [x(g), g.input([3, 2])];
      g.op('Concat', all, { axis: 1 });
      return all;
    },
  ],
  [
    'Split',
    g => {
      const src = x(g);
      const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'f32' })];
      g.graph.add({ kind: 'Split', attrs: { axis: 1, sizes: [3, 1] }, inputs: [src], outputs });
      return [src];
    },
  ],
  [
    'Expand',
    g => {
      const src = g.input([3, 1]);
      g.op('Expand', [src], { shape: [2, 1, 4] });
      return [src];
    },
  ],
  [
    'GatherElements from one element, with indices out of range',
    g => {
      const src = g.input([1, 4]);
      g.op('GatherElements', [src, indices(g, [1, 4], [0, 1, -1, 0])], { axis: 0 });
      return [src];
    },
  ],
  [
    'Take from one element, with an index out of range',
    g => {
      const src = g.input([1, 4]);
      g.op('Take', [src, indices(g, [1], [1])], { axis: 0 });
      return [src];
    },
  ],
  [
    'GatherElements',
    g => {
      const src = x(g);
      g.op('GatherElements', [src, indices(g, [3, 2], [3, 0, 1, 1, 2, 0])], { axis: 1 });
      return [src];
    },
  ],
  [
    'ScatterElements',
    g => {
      const all = [x(g), indices(g, [3, 2], [3, 0, 1, 1, 2, 9]), g.input([3, 2])] as const;
      g.op('ScatterElements', all, { axis: 1, reduction: 'add' });
      return [all[0], all[2]];
    },
  ],
  [
    'Slice',
    g => {
      const src = x(g);
      g.op('Slice', [src], { axis: 1, start: 3, size: 2, step: -2 });
      return [src];
    },
  ],
  unary('Pad', { before: [1, 0], after: [0, 2], value: 0.5 }),
  unary('CumSum', { axis: 1, exclusive: true, reverse: true }),
  [
    'Take',
    g => {
      const src = x(g);
      g.op('Take', [src, indices(g, [2, 2], [0, -1, 9, 1])], { axis: 0 });
      return [src];
    },
  ],
  [
    'TensorScatter',
    g => {
      const all = [g.input([2, 4, 3]), g.input([2, 2, 3])];
      g.op('TensorScatter', [...all, indices(g, [2], [1, 3])], { axis: 1 });
      return [];
    },
  ],
  [
    'TopK',
    g => {
      const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'i32' })];
      g.graph.add({ kind: 'TopK', attrs: { axis: 1, k: 2 }, inputs: [x(g)], outputs });
      return [];
    },
  ],
  [
    'Convolution',
    g => {
      const all = [g.input([2, 4, 5, 6]), g.input([6, 2, 3, 2]), g.input([6])];
      const pads = { pads_begin: [1, 0], pads_end: [1, 1] };
      g.op('Convolution', all, { ...pads, strides: [2, 1], dilations: [1, 2], groups: 2 });
      return all;
    },
  ],
];
