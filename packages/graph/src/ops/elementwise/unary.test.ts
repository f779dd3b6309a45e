import { describe, expect, test } from 'vitest';
import { runOperation } from '../../../testing/compare/run-operation.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';

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
      const [got] = await runOperation(kind, [{ values: x }], attrs);
      got.forEach((y, n) => {
        expect(y).toBeCloseTo(formula(x[n]), 6);
      });
    },
  );

  test('of positive numbers', async () => {
    const values = [0.25, 1, 4];
    expect(await runOperation('Sqrt', [{ values }])).toEqual([[0.5, 1, 2]]);
    expect(await runOperation('Reciprocal', [{ values }])).toEqual([[4, 1, 0.25]]);
    expect(await runOperation('Log', [{ values }])).toEqual([values.map(t => Math.fround(Math.log(t)))]);
  });

  test('large arguments overflow nowhere', async () => {
    const values = [-200, 200];
    expect(await runOperation('Mish', [{ values }])).toEqual([[expect.closeTo(0, 6), 200]]);
    expect(await runOperation('SoftPlus', [{ values }])).toEqual([[expect.closeTo(0, 6), 200]]);
    expect(await runOperation('Elu', [{ values }], { alpha: 1 })).toEqual([[-1, 200]]);
    for (const kind of ['SiLU', 'Mish', 'GELU'])
      expect(await runOperation(kind, [{ values: [-1e38, -200, 1e38] }])).toEqual([
        [expect.closeTo(0, 6), expect.closeTo(0, 6), Math.fround(1e38)],
      ]);
    const far = { values: [-800, 800] };
    for (const [kind, limit] of [
      ['SigmoidBackward', 0],
      ['SiLUBackward', 1],
    ] as const)
      expect(await runOperation(kind, [far, { values: [1, 1] }])).toEqual([
        [expect.closeTo(0, 6), expect.closeTo(limit, 6)],
      ]);
  });

  const kinks: readonly (readonly [string, values: number[], slopes: number[], attrs?: Attributes])[] = [
    ['ReLU', [-1, 0, 1], [0, 0, 1]],
    ['LeakyReLU', [-1, 0, 1], [0.25, 0.25, 1], { alpha: 0.25 }],
    ['Elu', [0, 1], [2, 1], { alpha: 2 }],
    ['Clamp', [-2, -1, 0, 2, 3], [0, 1, 1, 1, 0], { min: -1, max: 2 }],
    ['Clamp', [-1, 1, 2, 3], [0, 0, 0, 0], { min: 2, max: 1 }],
    ['HardSigmoid', [-2, -1, 2], [0, 0.25, 0], { alpha: 0.25, beta: 0.5 }],
    ['HardSwish', [-3, 0, 3], [0, 0.5, 1]],
    ['Abs', [-1, 0, 1], [-1, 0, 1]],
  ];
  test.each(kinks.map(([kind, values, slopes, attrs]) => ({ kind, values, slopes, attrs })))(
    'the slopes of $kind at and around its kinks are those of PyTorch',
    async ({ kind, values, slopes, attrs }) => {
      const ones = { values: values.map(() => 1) };
      expect(await runOperation(`${kind}Backward`, [{ values }, ones], attrs)).toEqual([slopes]);
    },
  );

  test('Clamp to a minimum above the maximum gives the maximum, as in PyTorch and ONNX', async () => {
    expect(await runOperation('Clamp', [{ values: [-1, 1.5, 3] }], { min: 2, max: 1 })).toEqual([[1, 1, 1]]);
  });
});
