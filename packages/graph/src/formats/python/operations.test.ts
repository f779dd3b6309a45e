import { runSeed } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention-graph.ts';
import { attentionPatterns } from '../../../testing/attention-patterns.ts';
import { backwardOf } from '../../../testing/check-gradients.ts';
import { type CaseReport, fullPython, hasModule, PythonCases } from '../../../testing/python/python-cases.ts';
import { randomGraph } from '../../../testing/random-graph.ts';
import { UnsupportedOperationError } from '../../errors.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

// Without a Python that has the library, and without `TILEWISE_TORCH=full`, these are reported as skipped.
const libraries = (['torch', 'jax'] as const).map(library => ({ library }));
const missing = new Map<string, boolean>();
for (const { library } of libraries) missing.set(library, !(await hasModule(library, fullPython)));
const timeout = 600_000;

function withPython(name: string, run: (library: 'torch' | 'jax') => Promise<void>): void {
  for (const { library } of libraries) {
    test.skipIf(missing.get(library))(`${library}: ${name}`, { timeout }, () => run(library));
  }
}

function expectWithin(reports: ReadonlyMap<string, CaseReport>, limit: number): void {
  const wrong = [...reports].flatMap(([label, { problem, outputs = [], gradients = [] }]) =>
    problem !== undefined || [...outputs, ...gradients].some(x => typeof x === 'string' || x > limit)
      ? [`${label}: ${problem ?? `${outputs} | ${gradients}`}`]
      : [],
  );
  expect(wrong).toEqual([]);
}

withPython(
  'attention in each way to write it gives what the reference gives, and its gradients',
  async library => {
    const cases = new PythonCases(library);
    for (const [label, build] of Object.entries(attentionPatterns)) {
      const g = new GraphBuilder();
      const { o, inputs } = build(g);
      g.graph.finalize();
      const isOnly = g.graph.outputs[0].id === o.id;
      await cases.add(label, g, isOnly ? inputs : []);
    }
    expectWithin(await cases.run(), 3e-6);
  },
);

withPython('the graphs of gradients give what the reference gives', async library => {
  const cases = new PythonCases(library);
  for (const [label, build] of Object.entries(attentionPatterns)) {
    const g = new GraphBuilder();
    const { o, inputs } = build(g);
    const { backward, own } = await backwardOf(g, o, inputs, n => Math.cos(n * n + 1));
    await cases.add(label, { graph: backward, bindings: own });
  }
  expectWithin(await cases.run(), 5e-6);
});

withPython('random graphs give what the reference gives, or are refused by name', async library => {
  const cases = new PythonCases(library);
  // JAX compiles each graph, which takes a second.
  const count = library === 'torch' ? 100 : 25;
  let refused = 0;
  for (let n = 0; n < count; n++) {
    const seed = ((runSeed() % 1e6) + n) | 0;
    try {
      await cases.add(`graph ${seed}`, randomGraph(seed));
    } catch (error) {
      expect(error).toBeInstanceOf(UnsupportedOperationError);
      refused++;
    }
  }
  expect(refused).toBeLessThan(count / 10);
  // What f32 makes of up to some twenty operations after each other, as between the engines.
  expectWithin(await cases.run(), 2e-5);
});

/** Numbers with ties, zeros and the edges of functions among them. */
const edges = [-3, -1.5, -0.5, 0, 0, 0.25, 0.5, 1.5, 2.5, 3, 4, 0.5];
const positive = edges.map(x => Math.abs(x) + 0.3);

type Case = readonly [kind: string, build: (g: GraphBuilder) => readonly LogicalTensor[]];
const x = (g: GraphBuilder, values: readonly number[] = edges): LogicalTensor => g.input([3, 4], { values });
const unary = (kind: string, attrs = {}, values = edges): Case => [
  kind,
  g => {
    const src = x(g, values);
    g.op(kind, [src], attrs);
    return [src];
  },
];
const binary = (kind: string, shape: readonly number[] = [4]): Case => [
  kind,
  g => {
    const count = shape.reduce((n, extent) => n * extent, 1);
    const [a, b] = [x(g), g.input(shape, { values: positive.slice(0, count) })];
    g.op(kind, [a, b]);
    return [a, b];
  },
];

const withGradients: readonly Case[] = [
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
];

withPython(
  'operations give what the reference gives, and their gradients, where they have kinks too',
  async library => {
    const cases = new PythonCases(library);
    for (const [label, build] of withGradients) {
      const g = new GraphBuilder();
      await cases.add(label, g, build(g));
    }
    expectWithin(await cases.run(), 3e-6);
  },
);

const exact: readonly Case[] = [
  ...(['u8', 'i8', 'f8e4m3', 'f8e5m2'] as const).map(
    (dtype): Case => [
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
    (dtype): Case => [
      `TypeCast to ${dtype}`,
      g => {
        g.op('TypeCast', [x(g)], {}, dtype);
        return [];
      },
    ],
  ),
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
];

withPython('masks, random numbers, rounding to 16 and 8 bits are equal', async library => {
  const cases = new PythonCases(library);
  for (const [label, build] of exact) {
    const g = new GraphBuilder();
    build(g);
    await cases.add(label, g);
  }
  expectWithin(await cases.run(), 0);
});
