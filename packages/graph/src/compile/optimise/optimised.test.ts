import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectClose } from '../../../testing/compare/expect-same.ts';
import { randomGraph } from '../../../testing/random/random-graph.ts';
import { add, compile, multiply, slice, subtract, type Variable } from '../../frontends/functions/index.ts';

type Engine = ReturnType<typeof referenceEngine>;

/**
 * The reference engine with the programs of a recording engine, and the kinds of primitives that it prepared.
 */
function recordingEngine(): { readonly engine: Engine; readonly kinds: string[] } {
  const kinds: string[] = [];
  const reference = referenceEngine();
  const prepare: Engine['primitives']['prepare'] = (...call) => {
    kinds.push(call[0].kind);
    return reference.primitives.prepare(...call);
  };
  const recording = { encode: () => {} };
  return { engine: { ...reference, recording, primitives: { ...reference.primitives, prepare } }, kinds };
}

/** The kinds of primitives in a compiled graph; also checks its results. */
async function kindsOf({ graph, bindings }: Pick<GraphBuilder, 'graph' | 'bindings'>): Promise<string[]> {
  const { engine, kinds } = recordingEngine();
  graph.finalize();
  const known = graph.inputs.flatMap(({ id }) => {
    const bound = bindings[id];
    return bound instanceof Tensor ? [[id, bound] as const] : [];
  });
  const results = await graph.compile(engine, { inputs: Object.fromEntries(known) }).execute(bindings);
  const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  expectClose(
    results as Record<number, Tensor>,
    expected as Record<number, Tensor>,
    2e-6,
    'as a program of a device',
  );
  return kinds.sort();
}

test('random graphs give the same results as programs of a device and as single operations', async () => {
  for (let seed = 401; seed < 461; seed++) {
    try {
      await kindsOf(randomGraph(seed));
    } catch (error) {
      throw new Error(`graph ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
});

test.each(['LayerNorm', 'RMSNorm'] as const)('%s is one step, and so is its gradient', async kind => {
  const g = new GraphBuilder();
  const x = g.input([4, 6, 8]);
  g.op(kind, [x, g.input([8])]);
  expect(await kindsOf(g)).toEqual(['rows']);
  const b = new GraphBuilder();
  const [src, dy, residual] = [b.input([4, 6, 8]), b.input([4, 6, 8]), b.input([4, 6, 8])];
  b.op('Add', [b.op(`${kind}Backward`, [src, dy, b.input([8])]), residual]);
  expect(await kindsOf(b)).toEqual(['rows']);
});

test('a map that is read together with its own transpose is stored', async () => {
  const g = new GraphBuilder();
  const y = g.op('Exp', [g.input([3, 3])]);
  g.op('Add', [y, g.op('StaticTranspose', [y], { order: [1, 0] })]);
  expect(await kindsOf(g)).toEqual(['map', 'map']);
});

test('a product computes its bias, its activation and its residual', async () => {
  const g = new GraphBuilder();
  const product = g.op('MatMul', [g.input([2, 3, 4]), g.input([4, 5])]);
  const active = g.op('GELU', [g.op('Add', [product, g.input([5])])]);
  g.op('Add', [active, g.input([2, 3, 5])]);
  expect(await kindsOf(g)).toEqual(['matmul']);
});

test('products that are added up are one step, with the operations on their sum', async () => {
  const sum = (g: GraphBuilder, terms: number) =>
    Array.from({ length: terms }, (_, n) =>
      g.op('MatMul', [g.input([2, 3, n + 2]), g.input([n + 2, 5])]),
    ).reduce((a, b) => g.op('Add', [a, b]));
  for (const [terms, kinds] of [
    [2, ['matmul']],
    [3, ['matmul']],
    [4, ['matmul', 'matmul']],
  ] as const) {
    const g = new GraphBuilder();
    g.op('Add', [sum(g, terms), g.input([2, 3, 5])]);
    expect(await kindsOf(g), `${terms} terms`).toEqual(kinds);
  }
});

test('a product may read one tensor as a matrix and in its epilogue, or as both matrices', async () => {
  const g = new GraphBuilder();
  const x = g.input([3, 4]);
  g.op('Add', [g.op('MatMul', [x, g.input([4, 4])]), x]);
  expect(await kindsOf(g)).toEqual(['matmul']);
  const h = new GraphBuilder();
  const y = h.input([5, 5]);
  h.op('Exp', [h.op('MatMul', [y, y])]);
  expect(await kindsOf(h)).toEqual(['matmul']);
});

test('a product that is added with a factor, or read twice, stays a step', async () => {
  const g = new GraphBuilder();
  const [a, b] = [1, 2].map(() => g.op('MatMul', [g.input([3, 4]), g.input([4, 5])]));
  g.op('Add', [a, g.op('Exp', [b])]);
  expect(await kindsOf(g)).toEqual(['matmul', 'matmul']);
  const h = new GraphBuilder();
  const [c, d] = [1, 2].map(() => h.op('MatMul', [h.input([3, 4]), h.input([4, 5])]));
  h.op('Multiply', [h.op('Add', [c, d]), c]);
  expect(await kindsOf(h)).toEqual(['matmul', 'matmul']);
});

test('the result of a product with two readers is stored', async () => {
  const g = new GraphBuilder();
  const product = g.op('MatMul', [g.input([3, 4]), g.input([4, 5])]);
  g.op('MatMul', [g.op('Exp', [product]), g.input([5, 2])]);
  g.op('MatMul', [product, g.input([5, 2])]);
  expect(await kindsOf(g)).toEqual(['map', 'matmul', 'matmul', 'matmul']);
});

test('transposes, reshapes and slices between operations are strides', async () => {
  const g = new GraphBuilder();
  const all = g.op('MatMul', [g.input([2, 3, 4]), g.input([4, 12])]);
  const part = g.op('Slice', [all], { axis: 2, start: 4, size: 8 });
  const heads = g.op('StaticReshape', [part], { shape: [2, 3, 2, 4], special_zero: false });
  const rows = g.op('StaticTranspose', [heads], { order: [0, 2, 1, 3] });
  const product = g.op('MatMul', [rows, g.input([4, 5])]);
  const joined = g.op('StaticTranspose', [product], { order: [0, 2, 1, 3] });
  const flat = g.op('StaticReshape', [joined], { shape: [2, 3, 10], special_zero: false });
  g.op('MatMul', [flat, g.input([10, 3])]);
  expect(await kindsOf(g)).toEqual(['matmul', 'matmul', 'matmul']);
});

test('a sum over all matrices of a batch of products is one product', async () => {
  const g = new GraphBuilder();
  const product = g.op('MatMul', [g.input([3, 5, 4]), g.input([3, 5, 6])], { transpose_a: true });
  const sum = g.op('ReduceSum', [product], { axes: [0], keep_dims: false });
  g.op('MatMul', [sum, g.input([6, 2])]);
  expect(await kindsOf(g)).toEqual(['matmul', 'matmul']);
});

test('several tensors that a gradient updates are updated in one step', async () => {
  const { engine, kinds } = recordingEngine();
  const step = ({ x, m, v, g, numbers }: Readonly<Record<string, Variable>>) => {
    const rate = slice(numbers, { axis: 0, start: 1, size: 1 });
    const first = add(multiply(m, 0.9), multiply(g, 0.1));
    const second = add(multiply(v, 0.99), multiply(multiply(g, g), 0.01));
    return [subtract(x, multiply(add(first, second), rate)), first, second];
  };
  const vector = [64] as const;
  const run = compile(engine, step, { x: vector, m: vector, v: vector, g: vector, numbers: [2] });
  const of = (n: number): Tensor => Tensor.from(Array.from(vector, () => n).concat(Array(63).fill(n)), [64]);
  const [x, m, v] = await run({
    x: of(1),
    m: of(2),
    v: of(3),
    g: of(4),
    numbers: Tensor.from([7, 0.5], [2]),
  });
  expect([m, v].map(t => t.toFloat64()[5])).toEqual([2.2, 3.13].map(Math.fround));
  expect(x.toFloat64()[5]).toBeCloseTo(1 - 0.5 * (2.2 + 3.13), 6);
  expect(kinds).toEqual(['rows']);
});

test('a map joins the step that wrote its input, although another step has read the result', async () => {
  const g = new GraphBuilder();
  const normalised = g.op('LayerNorm', [g.op('Add', [g.input([1, 6, 8]), g.input([4, 1, 8])])]);
  g.op('SoftMax', [normalised], { axis: 2 });
  g.op('Abs', [normalised]);
  expect(await kindsOf(g)).toEqual(['rows', 'softmax']);
});

test('a map that also reads a later result does not join an earlier step', async () => {
  const g = new GraphBuilder();
  const normalised = g.op('LayerNorm', [g.input([4, 6, 8])]);
  const later = g.op('SoftMax', [normalised], { axis: 2 });
  g.op('Multiply', [normalised, later]);
  expect(await kindsOf(g)).toEqual(['map', 'rows', 'softmax']);
});

test('numbers of other types than f32 are read as stored', async () => {
  const g = new GraphBuilder();
  const counts = g.op('TypeCast', [g.input([2, 2], { dtype: 'i32', values: [1, -2, 3, 4] })], {}, 'f32');
  g.op('MatMul', [counts, g.input([2, 3])]);
  g.op('Multiply', [counts, counts]);
  await kindsOf(g);
});

test('views of one tensor take one binding, whatever the strides of extents of 1', async () => {
  for (const batch of [1, 2]) {
    const g = new GraphBuilder();
    const x = g.input([batch, 4, 4], { dtype: 'f16' });
    g.op('Multiply', [g.op('TypeCast', [x], {}, 'f32'), g.op('TypeCast', [x], {}, 'f32')]);
    g.op('Abs', [x], {}, 'f16');
    expect(await kindsOf(g)).toEqual(['rows']);
  }
});
