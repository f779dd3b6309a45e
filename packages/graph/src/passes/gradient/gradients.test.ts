import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { backwardOf, checkGradients } from '../../../testing/compare/check-gradients.ts';
import { expectSame } from '../../../testing/compare/expect-same.ts';
import { gradients } from '../../gradients.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { operations } from '../../ops/table.ts';

describe('gradients of other operations', () => {
  test('products transposed and broadcast, sums, differences, quotients, layouts', async () => {
    const g = new GraphBuilder();
    const [a, b, c] = [g.input([2, 3, 4]), g.input([4, 3]), g.input([3])];
    const y = g.op('MatMul', [a, b], { transpose_a: true, transpose_b: true });
    const moved = g.op('StaticTranspose', [y], { order: [1, 2, 0] });
    const flat = g.op('StaticReshape', [moved], { shape: [8, 4], special_zero: false });
    const d = g.input([8, 1]);
    const e = g.op('Divide', [
      g.op('Subtract', [flat, d]),
      g.op('Add', [g.op('Square', [d]), g.input([], { values: [2] })]),
    ]);
    const product = g.op('Multiply', [
      g.op('StaticReshape', [g.op('MatMul', [a, b], { transpose_a: true, transpose_b: true })], {
        shape: [8, 4],
        special_zero: false,
      }),
      e,
    ]);
    await checkGradients(g, product, [a, b, d]);
    expect(c.shape).toEqual([3]);
  });

  test.each(['Tanh', 'Exp', 'Sigmoid', 'GELU', 'SiLU', 'Mish', 'Square', 'SoftPlus'])('%s', async kind => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    await checkGradients(g, g.op(kind, [x]), [x]);
  });

  test.each(['Maximum', 'Minimum', 'SquaredDifference'])(
    '%s, by both operands, one broadcast',
    async kind => {
      const g = new GraphBuilder();
      const [a, b] = [g.input([2, 3, 4]), g.input([3, 1])];
      await checkGradients(g, g.op(kind, [g.op('Tanh', [a]), b]), [a, b]);
    },
  );

  test.each(['NXC', 'NCX'])('BiasAdd over channels of %s', async data_format => {
    const g = new GraphBuilder();
    const [x, bias] = [g.input([2, 3, 3]), g.input([3])];
    const y = g.op('Square', [g.op('BiasAdd', [x, bias], { data_format })]);
    await checkGradients(g, y, [x, bias]);
  });

  test('products of vectors with vectors and matrices', async () => {
    for (const [a, b, transposed] of [
      [[4], [4], false],
      [[4], [2, 4, 3], false],
      [[4], [3, 4], true],
      [[2, 3, 4], [4], false],
    ] as const) {
      const g = new GraphBuilder();
      const [x, y] = [g.input(a), g.input(b)];
      await checkGradients(g, g.op('MatMul', [x, y], { transpose_b: transposed }), [x, y]);
    }
  });

  test('Mask and BroadcastLike', async () => {
    const g = new GraphBuilder();
    const [x, like] = [g.input([3, 1]), g.input([2, 3, 4])];
    const cond = g.input([3, 1], { dtype: 'bool', values: [1, 0, 1] });
    const y = g.op('BroadcastLike', [g.op('Mask', [x, cond], { invert: true }), like], { divisor: 3 });
    await checkGradients(g, g.op('Multiply', [y, like]), [x]);
  });

  test('the stats of a softmax, alone and beside its probabilities', async () => {
    for (const both of [false, true]) {
      const g = new GraphBuilder();
      const x = g.input([3, 4]);
      const [p, stats] = g.softmax(x);
      const y = g.op('Square', [stats]);
      await checkGradients(g, both ? g.op('Multiply', [p, y]) : y, [x]);
    }
  });

  test('softmax, and its logarithm, without stats', async () => {
    const g = new GraphBuilder();
    const x = g.input([3, 4]);
    const y = g.op('Multiply', [g.op('SoftMax', [x], { axis: -1 }), g.op('LogSoftmax', [x], { axis: 0 })]);
    await checkGradients(g, y, [x]);
  });
});

describe('gradients of operations around attention', () => {
  test.each([true, false])('reductions, keeping their dimensions: %s', async keep_dims => {
    const g = new GraphBuilder();
    const x = g.input([3, 4, 2]);
    const sum = g.op('ReduceSum', [g.op('Square', [x])], { axes: [1], keep_dims });
    const mean = g.op('ReduceMean', [g.op('Tanh', [x])], { axes: [-2], keep_dims });
    await checkGradients(g, g.op('Multiply', [sum, mean]), [x]);
  });

  const reductions = ['ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL1', 'ReduceL2'];
  test.each(reductions)('%s over two axes', async kind => {
    for (const keep_dims of [true, false]) {
      const g = new GraphBuilder();
      const x = g.input([2, 3, 2]);
      await checkGradients(g, g.op('Square', [g.op(kind, [x], { axes: [0, 2], keep_dims })]), [x]);
    }
  });

  test('LayerNorm over several axes, its mean and variance results too', async () => {
    const g = new GraphBuilder();
    const [x, gamma, beta] = [g.input([2, 3, 4]), g.input([3, 4]), g.input([4])];
    const [y, mean, variance] = [0, 1, 2].map(() => g.graph.tensor({ dtype: 'f32' }));
    g.graph.op('LayerNorm', {
      attrs: { begin_norm_axis: 1, epsilon: 0.1, keep_stats: true },
      inputs: [x, gamma, beta],
      outputs: [y, mean, variance],
    });
    const row = g.op('StaticReshape', [g.op('Multiply', [mean, variance])], {
      shape: [2, 1, 1],
      special_zero: false,
    });
    await checkGradients(g, g.op('Multiply', [y, row]), [x, gamma, beta]);
  });

  test('LayerNorm and RMSNorm', async () => {
    for (const kind of ['LayerNorm', 'RMSNorm']) {
      const g = new GraphBuilder();
      const [x, gamma, beta] = [g.input([3, 5]), g.input([5]), g.input([5])];
      const affine = kind === 'LayerNorm' ? [gamma, beta] : [gamma];
      await checkGradients(g, g.op(kind, [x, ...affine], { epsilon: 0.1 }), [x, ...affine]);
    }
  });

  test('an embedding, its rows taken twice', async () => {
    const g = new GraphBuilder();
    const table = g.input([4, 3]);
    const ids = g.input([2, 3], { dtype: 'i32', values: [3, 0, 3, 1, 3, 0] });
    await checkGradients(g, g.op('Square', [g.op('Gather', [table, ids])]), [table]);
  });

  test('cross-entropy', async () => {
    const g = new GraphBuilder();
    const logits = g.input([2, 3, 4]);
    const labels = g.input([2, 3], { dtype: 'i32', values: [0, 1, 2, 3, 0, 1] });
    await checkGradients(g, g.op('CrossEntropy', [logits, labels]), [logits]);
  });
});

test('a tensor that is needed twice is computed once', () => {
  const g = new GraphBuilder();
  const x = g.input([3]);
  const y = g.op('Exp', [g.op('Tanh', [x])]);
  g.graph.finalize();
  const backward = gradients(g.graph, { of: y, withRespectTo: [x] }).finalize();
  expect(backward.nodes.filter(node => node.kind === 'Tanh').length).toBe(1);
});

test.each(['ReduceMax', 'ReduceMin'])(
  '%s has a gradient if its operand is recomputed and differs by a rounding',
  async kind => {
    const g = new GraphBuilder();
    const [q, k, v] = [0, 1, 2].map(() => g.input([1, 1, 5, 4]));
    const o = g.op('MatMul', [g.softmax(g.op('MatMul', [q, k], { transpose_b: true }))[0], v]);
    const y = g.op(kind, [o], { axes: [-1] });
    // The results of forward, computed operation by operation on the reference.
    const { backward, own } = await backwardOf(g, y, [v], () => 1);
    await expectSame(backward, own);
    const results = await backward.run(cpuEngine(), own);
    const dv = results[backward.gradients.get(v.id)?.id ?? -1].toFloat64();
    // Each query has weights that sum to 1, and a gradient of 1.
    expect(dv.reduce((sum, x) => sum + x)).toBeCloseTo(5, 5);
  },
);

test('equal operands each get half of the gradient, and equal extrema share it', async () => {
  const gradientOf = async (
    values: readonly number[],
    make: (g: GraphBuilder, x: LogicalTensor) => LogicalTensor,
  ) => {
    const g = new GraphBuilder();
    const x = g.input([values.length], { values });
    const { backward, own } = await backwardOf(g, make(g, x), [x], () => 1);
    const results = await backward.run(referenceEngine(), own);
    return [...results[backward.gradients.get(x.id)?.id ?? -1].toFloat64()];
  };
  const zero = (g: GraphBuilder) => g.input([1], { values: [0] });
  const axes = { axes: [0] };
  expect(await gradientOf([-1, 0, 2], (g, x) => g.op('Maximum', [x, zero(g)]))).toEqual([0, 0.5, 1]);
  expect(await gradientOf([-1, 0, 2], (g, x) => g.op('Minimum', [zero(g), x]))).toEqual([1, 0.5, 0]);
  expect(await gradientOf([3, 1, 3], (g, x) => g.op('ReduceMax', [x], axes))).toEqual([0.5, 0, 0.5]);
  expect(await gradientOf([3, 1, 3], (g, x) => g.op('ReduceMin', [x], axes))).toEqual([0, 1, 0]);
  expect(await gradientOf([2, 3, 4], (g, x) => g.op('ReduceProd', [x], axes))).toEqual([12, 8, 6]);
  expect(await gradientOf([2, 0, 4], (g, x) => g.op('ReduceProd', [x], axes))).toEqual([0, 8, 0]);
  expect(await gradientOf([0, 0, 4], (g, x) => g.op('ReduceProd', [x], axes))).toEqual([0, 0, 0]);
  expect(await gradientOf([0, 0], (g, x) => g.op('ReduceL2', [x], axes))).toEqual([0, 0]);
});

test('every operation has a gradient or a reason why it has none', () => {
  const without = operations
    .filter(({ gradient, noGradient }) => !gradient && noGradient === undefined)
    .map(({ kind }) => kind);
  // Most operations that compute gradients have none themselves; the last two operations compute nothing.
  expect(without.filter(kind => !kind.includes('Backward'))).toEqual(['End', 'Wildcard']);
});

test('missing gradients and missing dependences are reported', () => {
  const g = new GraphBuilder();
  const [x, other] = [g.input([3]), g.input([3])];
  const quantized = g.op('Quantize', [g.op('Add', [x, x])], { scales: [0.5] }, 'i8');
  const y = g.op('Dequantize', [quantized], { scales: [0.5] });
  const z = g.op('TanhBackward', [x, x]);
  g.op('Exp', [other]);
  g.graph.finalize();
  expect(() => gradients(g.graph, { of: quantized, withRespectTo: [x] })).toThrow(
    'Quantize 1 has no gradient: the result is piecewise constant',
  );
  expect(() => gradients(g.graph, { of: y, withRespectTo: [x] })).toThrow(/Dequantize 2 has no gradient: /);
  expect(() => gradients(g.graph, { of: z, withRespectTo: [x] })).toThrow(/TanhBackward 3 has no gradient$/);
  expect(() => gradients(g.graph, { of: y, withRespectTo: [other] })).toThrow(
    /must be floats that a result depends on/,
  );
});

test('LayerNorm with statistics has gradients where another operation reads its result', async () => {
  const g = new GraphBuilder();
  const x = g.input([3, 4]);
  const outputs = [0, 1, 2].map(() => g.graph.tensor({ dtype: 'f32' }));
  g.graph.add({ kind: 'LayerNorm', attrs: { keep_stats: true }, inputs: [x], outputs });
  await checkGradients(g, g.op('Square', [outputs[0]]), [x]);
});

test('a gradient that equals the gradient of the loss is a result', async () => {
  const g = new GraphBuilder();
  const [x, bias] = [g.input([2, 3]), g.input([2, 3])];
  const { backward, dy, own } = await backwardOf(g, g.op('Add', [x, bias]), [x, bias], n => n);
  const results = await backward.run(cpuEngine(), own);
  for (const { id } of backward.gradients.values())
    expect(Array.from(results[id].toFloat64())).toEqual(Array.from(dy.toFloat64()));
});
