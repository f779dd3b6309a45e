import { conditions, indices, type OperationCase, x } from './operation-case.ts';

/** Operations whose results in Python must be exactly equal. */
export const exact: readonly OperationCase[] = [
  ...(['u8', 'i8', 'f8e4m3', 'f8e5m2'] as const).map(
    (dtype): OperationCase => [
      `Quantize to ${dtype} and back`,
      g => {
        const attrs = { scales: [0.05], zps: dtype.startsWith('f8') ? [] : [3] };
        const q = g.op('Quantize', [g.input([5, 40])], attrs, dtype);
        g.op('Dequantize', [q], attrs);
        g.graph.op('End', { inputs: [q], outputs: [] });
        return [];
      },
    ],
  ),
  ...(['f16', 'bf16'] as const).map(
    (dtype): OperationCase => [
      `TypeCast to ${dtype}`,
      g => {
        g.op('TypeCast', [x(g)], {}, dtype);
        return [];
      },
    ],
  ),
  ...(['i8', 'u8', 'u32', 'i32'] as const).map(
    (dtype): OperationCase => [
      `TypeCast of floats to ${dtype}`,
      g => {
        const values = [300, -200, 5.7, -5.7, 127.5, 3e9, -3e9, 5e9, 2147483520, NaN];
        g.op('TypeCast', [g.input([values.length], { values })], {}, dtype);
        return [];
      },
    ],
  ),
  ...(['i8', 'u8'] as const).map(
    (dtype): OperationCase => [
      `TypeCast of integers to ${dtype}`,
      g => {
        const values = [300, -200, 127, 128, 255, 256, -1, 2147483647, -2147483648];
        g.op('TypeCast', [g.input([values.length], { dtype: 'i32', values })], {}, dtype);
        return [];
      },
    ],
  ),
  [
    'Pad of a tensor without elements',
    g => {
      g.op('Pad', [g.input([2, 0, 3])], { before: [1, 1, 0], after: [0, 0, 2], value: 0.5 });
      return [];
    },
  ],
  [
    'GenIndex',
    g => {
      g.op('GenIndex', [x(g)], { axis: 0 }, 'i32');
      return [];
    },
  ],
  [
    'RNG',
    g => {
      g.op('RNG', [x(g), g.scalar(5n, 'i64'), g.scalar(2n ** 33n, 'i64')], { p: 0.3 });
      return [];
    },
  ],
  [
    'uniform RNG',
    g => {
      g.op('RNG', [g.input([7, 9]), g.scalar(5n, 'i64'), g.scalar(1n, 'i64')], {
        distribution_mode: 'UNIFORM',
      });
      return [];
    },
  ],
  [
    'SoftMax of rows of −∞',
    g => {
      g.op('SoftMax', [g.input([2, 2], { values: [-Infinity, -Infinity, 0, 0] })], {
        axis: 1,
        mode: 'inf_as_zero',
      });
      return [];
    },
  ],
  ...['Equal', 'NotEqual', 'Less', 'LessEqual', 'Greater', 'GreaterEqual'].map(
    (kind): OperationCase => [
      kind,
      g => {
        g.op(kind, [x(g), g.input([4], { values: [0.5, 0, 1.5, 2] })], {}, 'bool');
        return [];
      },
    ],
  ),
  ...['LogicalAnd', 'LogicalOr'].map(
    (kind): OperationCase => [
      kind,
      g => {
        g.op(kind, conditions(g), {}, 'bool');
        return [];
      },
    ],
  ),
  [
    'LogicalNot',
    g => {
      g.op('LogicalNot', conditions(g).slice(1), {}, 'bool');
      return [];
    },
  ],
  [
    'Reorder',
    g => {
      g.op('Reorder', [x(g)]);
      return [];
    },
  ],
  [
    'ArgMax',
    g => {
      g.op('ArgMax', [x(g)], { axis: 1 }, 'i32');
      return [];
    },
  ],
  [
    'ScatterElements that replaces',
    g => {
      const all = [x(g), indices(g, [3, 2], [3, 0, 1, 1, 2, 9]), g.input([3, 2])];
      g.op('ScatterElements', all, { axis: 1, reduction: 'none' });
      return [];
    },
  ],
  [
    'Take from a Constant, at indices that depend on an input',
    g => {
      const table = g.op('Constant', [], { value: [1, 2, 3, 4], shape: [4] });
      g.op('Take', [table, indices(g, [2, 2], [0, 3, 1, 1])], { axis: 0 });
      return [];
    },
  ],
  [
    'Select of the lowest f32',
    g => {
      const lowest = g.op('Constant', [], { value: [-(2 ** 128 - 2 ** 104)] });
      g.op('Select', [conditions(g)[0], x(g), lowest]);
      return [];
    },
  ],
  [
    'Constant',
    g => {
      g.op('Add', [x(g), g.op('Constant', [], { value: [1, 2, 3, 4], shape: [4] })]);
      return [];
    },
  ],
  [
    'DynamicQuantize and back',
    g => {
      const more = [g.input([4], { values: [0.05, 0.1, 0.2, 0.4] }), indices(g, [4], [3, 0, -2, 7])];
      const attrs = { qtype: 'per_channel', axis: 1 };
      const q = g.op('DynamicQuantize', [x(g), ...more], attrs, 'i8');
      g.op('DynamicDequantize', [q, ...more], attrs);
      g.graph.op('End', { inputs: [q], outputs: [] });
      return [];
    },
  ],
];
