import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { expectClose } from '../../testing/expect-same.ts';
import { operationsPage } from '../../testing/operations-page.ts';
import { runOnGpu } from '../../testing/webgpu-engine.ts';
import { Graph } from '../graph/graph.ts';
import { inferShapes } from '../graph/infer.ts';
import type { Attributes } from '../schema/operation.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import { UNKNOWN } from '../tensor/logical-tensor.ts';
import { operations } from './index.ts';

interface Input {
  readonly values: readonly number[];
  readonly shape?: readonly number[];
  readonly dtype?: GraphDType;
}

/** Runs one operation on the reference and on WebGPU, which must agree; gives the values of its outputs. */
async function run(
  kind: string,
  inputs: readonly Input[],
  attrs: Attributes = {},
  outputs: readonly GraphDType[] = ['f32'],
): Promise<number[][]> {
  const g = new Graph();
  const tensors = inputs.map(({ values, shape = [values.length], dtype = 'f32' }) =>
    g.tensor({ dtype, shape }),
  );
  const results = outputs.map(dtype => g.tensor({ dtype }));
  g.op(kind, { attrs, inputs: tensors, outputs: results });
  const bindings = Object.fromEntries(
    tensors.map((t, n) => {
      const storage = t.dtype === 'i4' ? 'i8' : t.dtype === 'u4' ? 'u8' : t.dtype;
      const { values, shape = [values.length] } = inputs[n];
      return [
        t.id,
        t.dtype === 'i64' ? BigInt(values[0]) : Tensor.from(values, shape, { dtype: storage as 'f32' }),
      ];
    }),
  );
  const got = await g.run(referenceEngine(), bindings);
  expectClose(await runOnGpu(g, bindings), got, 1e-5, 'webgpu');
  return results.map(t => [...got[t.id].toFloat64()]);
}

test('the page of operations is up to date', async () => {
  await expect(operationsPage()).toMatchFileSnapshot('../../OPERATIONS.md');
});

test('no two operations have one name', () => {
  expect(new Set(operations.map(operation => operation.kind)).size).toBe(operations.length);
});

const x = [-2.5, -1, -0.25, 0, 0.5, 1, 3];
const sigmoid = (t: number) => 1 / (1 + Math.exp(-t));
const softplus = (t: number) => Math.log1p(Math.exp(t));
// Φ at the numbers of x; Abramowitz and Stegun, table 26.1.
const normal = new Map([
  [-2.5, 0.0062096653],
  [-1, 0.1586552539],
  [-0.25, 0.4012936743],
  [0, 0.5],
  [0.5, 0.6914624613],
  [1, 0.8413447461],
  [3, 0.998650102],
]);
const halves = new Map([
  [-2.5, -2],
  [0.5, 0],
]);

describe('functions of one tensor', () => {
  const formulas: readonly (readonly [string, (t: number) => number, Attributes?])[] = [
    ['Abs', Math.abs],
    ['Clamp', t => Math.min(Math.max(t, -1), 0.75), { min: -1, max: 0.75 }],
    ['Elu', t => (t > 0 ? t : 0.5 * Math.expm1(t)), { alpha: 0.5 }],
    ['Exp', Math.exp],
    ['GELU', t => t * (normal.get(t) ?? NaN)],
    [
      'GELU',
      t => 0.5 * t * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (t + 0.044715 * t ** 3))),
      { mode: 'gelu_tanh' },
    ],
    ['HardSigmoid', t => Math.max(0, Math.min(1, 0.2 * t + 0.4)), { alpha: 0.2, beta: 0.4 }],
    ['HardSwish', t => (t * Math.min(Math.max(t + 3, 0), 6)) / 6],
    ['LeakyReLU', t => (t >= 0 ? t : 0.1 * t), { alpha: 0.1 }],
    ['Mish', t => t * Math.tanh(softplus(t))],
    ['Pow', t => t ** 3, { beta: 3 }],
    ['ReLU', t => Math.max(t, 0)],
    ['Round', t => halves.get(t) ?? Math.round(t)],
    ['SiLU', t => t * sigmoid(t)],
    ['Sigmoid', sigmoid],
    ['SoftPlus', t => softplus(2 * t) / 2, { beta: 2 }],
    ['Square', t => t * t],
    ['Tanh', Math.tanh],
  ];
  test.each(formulas.map(([kind, formula, attrs]) => ({ kind, formula, attrs })))(
    '$kind',
    async ({ kind, formula, attrs }) => {
      const [got] = await run(kind, [{ values: x }], attrs);
      got.forEach((y, n) => {
        expect(y).toBeCloseTo(formula(x[n]), 6);
      });
    },
  );

  test('of positive numbers', async () => {
    const values = [0.25, 1, 4];
    expect(await run('Sqrt', [{ values }])).toEqual([[0.5, 1, 2]]);
    expect(await run('Reciprocal', [{ values }])).toEqual([[4, 1, 0.25]]);
    expect(await run('Log', [{ values }])).toEqual([values.map(t => Math.fround(Math.log(t)))]);
  });

  test('large arguments overflow nowhere', async () => {
    const values = [-200, 200];
    expect(await run('Mish', [{ values }])).toEqual([[expect.closeTo(0, 6), 200]]);
    expect(await run('SoftPlus', [{ values }])).toEqual([[expect.closeTo(0, 6), 200]]);
    expect(await run('Elu', [{ values }], { alpha: 1 })).toEqual([[-1, 200]]);
  });
});

describe('operations of two tensors', () => {
  test.each([
    ['Add', [11, 22, 13, 24]],
    ['Subtract', [-9, -18, -7, -16]],
    ['Multiply', [10, 40, 30, 80]],
    ['Divide', [0.1, 0.1, 0.3, 0.2]],
    ['Maximum', [10, 20, 10, 20]],
    ['Minimum', [1, 2, 3, 4]],
    ['SquaredDifference', [81, 324, 49, 256]],
  ])('%s broadcasts', async (kind, expected) => {
    const a = { values: [1, 2, 3, 4], shape: [2, 2] };
    expect(await run(kind, [a, { values: [10, 20] }])).toEqual([expected.map(Math.fround)]);
  });

  test('shapes may not differ without auto_broadcast', async () => {
    const inputs = [{ values: [1, 2] }, { values: [1], shape: [1] }];
    await expect(run('Add', inputs, { auto_broadcast: 'none' })).rejects.toThrow(
      'needs equal shapes, got [2] and [1]',
    );
    await expect(run('Add', [{ values: [1, 2] }, { values: [1, 2, 3] }])).rejects.toThrow(
      'cannot broadcast [2] with [3]',
    );
  });

  test('GreaterEqual and Select', async () => {
    expect(await run('GreaterEqual', [{ values: [1, 2, 3] }, { values: [2, 2, 2] }], {}, ['bool'])).toEqual([
      [0, 1, 1],
    ]);
    const cond = { values: [1, 0], shape: [2, 1], dtype: 'bool' as const };
    const select = await run('Select', [cond, { values: [1, 2, 3, 4], shape: [2, 2] }, { values: [-1] }]);
    expect(select).toEqual([[1, 2, -1, -1]]);
    await expect(
      run('Select', [{ ...cond, values: [1, 0, 1], shape: [3, 1] }, { values: [1] }, { values: [2] }]),
    ).rejects.toThrow('cannot broadcast cond [3,1] to [1]');
  });

  test('BiasAdd adds along its channels', async () => {
    const src = { values: [0, 0, 0, 0, 0, 0, 0, 0], shape: [1, 2, 2, 2] };
    const bias = { values: [1, 2] };
    expect(await run('BiasAdd', [src, bias], { data_format: 'NCX' })).toEqual([[1, 1, 1, 1, 2, 2, 2, 2]]);
    expect(await run('BiasAdd', [src, bias])).toEqual([[1, 2, 1, 2, 1, 2, 1, 2]]);
  });
});

describe('MatMul', () => {
  const m = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3] };
  const v = { values: [1, 10, 100] };

  test('of vectors and matrices', async () => {
    expect(await run('MatMul', [v, v])).toEqual([[10101]]);
    expect(await run('MatMul', [m, v])).toEqual([[321, 654]]);
    expect(await run('MatMul', [v, m], { transpose_b: true })).toEqual([[321, 654]]);
    expect(await run('MatMul', [m, m], { transpose_a: true })).toEqual([
      [17, 22, 27, 22, 29, 36, 27, 36, 45],
    ]);
    expect(await run('MatMul', [m, m, { values: [1, 2] }], { transpose_b: true })).toEqual([
      [15, 34, 33, 79],
    ]);
  });

  test('adds a bias in f32 and rounds the sum', async () => {
    const a = { values: [256], shape: [1, 1], dtype: 'bf16' as const };
    const one = { values: [1], shape: [1, 1], dtype: 'bf16' as const };
    const bias = { values: [1], dtype: 'bf16' as const };
    // 257 lies half-way between two bf16.
    expect(await run('MatMul', [a, one, bias], {}, ['bf16'])).toEqual([[256]]);
    expect(await run('MatMul', [a, one, bias], {}, ['f32'])).toEqual([[257]]);
  });
});

describe('layout', () => {
  const a = { values: [1, 2, 3, 4, 5, 6], shape: [2, 3] };

  test('StaticTranspose and StaticReshape', async () => {
    expect(await run('StaticTranspose', [a], { order: [1, -2] })).toEqual([[1, 4, 2, 5, 3, 6]]);
    expect(await run('StaticTranspose', [a], { order: [] })).toEqual([[1, 4, 2, 5, 3, 6]]);
    await expect(run('StaticTranspose', [a], { order: [0, 0] })).rejects.toThrow(
      'order [0,0] is no permutation',
    );
    const shapeOf = (shape: readonly number[], special_zero: boolean) => {
      const g = new Graph();
      const [src, dst] = [g.tensor({ dtype: 'f32', shape: [2, 3] }), g.tensor({ dtype: 'f32' })];
      g.op('StaticReshape', { attrs: { shape, special_zero }, inputs: [src], outputs: [dst] });
      return inferShapes(g.nodes, new Map()).get(dst.id);
    };
    expect(shapeOf([3, -1], false)).toEqual([3, 2]);
    expect(shapeOf([0, 1, -1], true)).toEqual([2, 1, 3]);
    expect(() => shapeOf([4, -1], false)).toThrow('does not divide the 6 elements');
    expect(() => shapeOf([0, -1], false)).toThrow('does not divide');
    expect(() => shapeOf([7], false)).toThrow('has 7 elements, but [2,3] has 6');
  });

  test('TypeCast rounds to nearest even', async () => {
    expect(await run('TypeCast', [{ values: [257, 259] }], {}, ['bf16'])).toEqual([[256, 260]]);
  });
});

describe('reductions', () => {
  const a = { values: [1, -2, 3, 4, -5, 6], shape: [2, 3] };
  test.each([
    ['ReduceSum', [2, 5]],
    ['ReduceMax', [3, 6]],
    ['ReduceMin', [-2, -5]],
    ['ReduceProd', [-6, -120]],
    ['ReduceMean', [2 / 3, 5 / 3]],
    ['ReduceL1', [6, 15]],
    ['ReduceL2', [Math.sqrt(14), Math.sqrt(77)]],
  ])('%s', async (kind, expected) => {
    expect(await run(kind, [a], { axes: [-1] })).toEqual([expected.map(Math.fround)]);
  });

  test('need axes that there are, each once', async () => {
    await expect(run('ReduceSum', [a], { axes: [] })).rejects.toThrow(
      "needs different axes of [2,3] in 'axes', got []",
    );
    await expect(run('ReduceSum', [a], { axes: [1, -1] })).rejects.toThrow('got [1,-1]');
    await expect(run('ReduceSum', [a], { axes: [2] })).rejects.toThrow('got [2]');
  });
});

test('the gradient of softmax is that of a difference quotient', async () => {
  const values = [0.3, -0.2, 0.9];
  const dy = [1, -2, 0.5];
  const exact = (kind: string, t: readonly number[]): number => {
    const sum = t.reduce((s, v) => s + Math.exp(v), 0);
    const y = t.map(v => (kind === 'SoftMax' ? Math.exp(v) / sum : v - Math.log(sum)));
    return y.reduce((s, v, n) => s + v * dy[n], 0);
  };
  for (const kind of ['SoftMax', 'LogSoftmax']) {
    const [y] = await run(kind, [{ values }], { axis: 0 });
    const [gradient] = await run(`${kind}Backward`, [{ values: dy }, { values: y }], { axis: 0 });
    gradient.forEach((slope, n) => {
      const at = (h: number) =>
        exact(
          kind,
          values.map((v, m) => (m === n ? v + h : v)),
        );
      expect(slope).toBeCloseTo((at(1e-5) - at(-1e-5)) / 2e-5, 5);
    });
  }
});

test('Dropout gives its mask, RNG the same decisions', async () => {
  const values = new Array<number>(16).fill(3);
  const stream = [
    { values: [123456], shape: [], dtype: 'i64' as const },
    { values: [1], shape: [], dtype: 'i64' as const },
  ];
  const [dst, mask] = await run('Dropout', [{ values }, ...stream], { p: 0.5 }, ['f32', 'u8']);
  // Words 2056334270, 202522231, 2153720529, 3977139244… are kept above 2³¹ − 1.
  expect(mask.slice(0, 4)).toEqual([0, 0, 1, 1]);
  expect(dst).toEqual(mask.map(keep => keep * 6));
  expect(await run('RNG', [{ values }, ...stream], { p: 0.5 })).toEqual([mask]);
});

describe('quantization', () => {
  test('rounds to nearest even, saturates, and comes back', async () => {
    const attrs = { scales: [0.5], zps: [3] };
    expect(await run('Quantize', [{ values: [0.25, 0.75, -100, 200] }], attrs, ['i8'])).toEqual([
      [4, 4, -128, 127],
    ]);
    expect(await run('Dequantize', [{ values: [4, -128], dtype: 'i8' }], attrs)).toEqual([[0.5, -65.5]]);
  });

  test('per channel', async () => {
    const attrs = { qtype: 'per_channel', axis: 0, scales: [1, 2] };
    expect(await run('Dequantize', [{ values: [1, 2, 3, 4], shape: [2, 2], dtype: 'u8' }], attrs)).toEqual([
      [1, 2, 6, 8],
    ]);
  });

  test('per group, of 4-bit integers with zero points', async () => {
    const inputs = [
      { values: [-8, -1, 2, 7], shape: [1, 4], dtype: 'i4' as const },
      { values: [1, 10], shape: [1, 2] },
      { values: [1, 2], shape: [1, 2], dtype: 'i4' as const },
    ];
    const attrs = { qtype: 'per_group', axis: 1, group_shape: [1, 2] };
    expect(await run('DynamicDequantize', inputs, attrs)).toEqual([[-9, -2, 0, 50]]);
  });
});

test('shapes are inferred as far as they are known', () => {
  const g = new Graph();
  const a = g.tensor({ dtype: 'f32', shape: [UNKNOWN, 4, 3] });
  const b = g.tensor({ dtype: 'f32', shape: [2, 3, UNKNOWN] });
  const [c, d, e] = [0, 1, 2].map(() => g.tensor({ dtype: 'f32' }));
  g.op('MatMul', { inputs: [a, b], outputs: [c] });
  g.op('ReduceSum', { attrs: { axes: [1] }, inputs: [c], outputs: [d] });
  g.op('Exp', { inputs: [g.tensor({ dtype: 'f32' })], outputs: [e] });
  const shapes = inferShapes(g.nodes, new Map());
  expect(shapes.get(c.id)).toEqual([2, 4, UNKNOWN]);
  expect(shapes.get(d.id)).toEqual([2, UNKNOWN]);
  expect(shapes.get(e.id)).toBe(null);
});
