import { InvalidArgumentError, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import {
  type AttentionOptions,
  attention,
  compile,
  evalShape,
  reduceSum,
  type Variable,
  valueAndGrad,
} from './index.ts';

const wave = (shape: readonly number[], step: number): Tensor =>
  Tensor.from(
    Array.from({ length: shape.reduce((a, b) => a * b) }, (_, n) => 2 * Math.sin(step * n * n)),
    shape,
  );
const given = {
  q: wave([1, 4, 5, 8], 0.7),
  k: wave([1, 2, 9, 8], 0.3),
  v: wave([1, 2, 9, 6], 1.1),
};

test.each<Pick<AttentionOptions, 'causal' | 'window' | 'scale' | 'softcap'>>([
  {},
  { causal: true },
  { causal: 'bottom-right' },
  { causal: 'top-left', window: { left: 1 } },
  { causal: 'bottom-right', window: { left: 2, right: 3 } },
  { window: { left: 0, right: 2 } },
  { window: { right: 1, align: 'bottom-right' } },
  { scale: 0.2, softcap: 1.5 },
])('the options %o mean what they mean to sdpa', async options => {
  const specs = { q: given.q.shape, k: given.k.shape, v: given.v.shape };
  const f = compile(cpuEngine(), ({ q, k, v }) => attention(q, k, v, options), specs);
  const o = (await f(given)).toFloat64();
  f.release();
  sdpa(given.q, given.k, given.v, options)
    .o.toFloat64()
    .forEach((expected, n) => {
      expect(o[n]).toBeCloseTo(expected, 5);
    });
});

test('sinks and slopes of ALiBi may be trained', async () => {
  const sink = Tensor.from([0.5, -1, 0, 2], [4]);
  const alibi = Tensor.from([0.5, 0.25, 0.125, 0.0625], [4]);
  const tensors = { ...given, sink, alibi };
  const loss = ({ q, k, v, ...options }: Record<keyof typeof tensors, Variable>) => {
    const o = attention(q, k, v, { causal: 'bottom-right', ...options });
    return { loss: reduceSum(o, { axes: [0, 1, 2, 3] }), o };
  };
  const f = compile(cpuEngine(), valueAndGrad(loss), tensors);
  const { value, gradients } = await f(tensors);
  f.release();
  const options = { causal: 'bottom-right', sink, alibi } as const;
  const { o, lse } = sdpa(given.q, given.k, given.v, options);
  const dO = Tensor.from(Array(o.size).fill(1), o.shape);
  const { dsink, dAlibi } = sdpaBackward({ ...given, o, lse, dO }, options);
  for (const [own, expected] of [
    [value.o, o],
    [gradients.sink, dsink],
    [gradients.alibi, dAlibi],
  ] as const)
    for (const [n, x] of own.toFloat64().entries()) expect(x).toBeCloseTo(expected?.toFloat64()[n] ?? NaN, 4);
});

test.each([
  [
    'another alignment than that of causal',
    { causal: true, window: { align: 'bottom-right' } },
    'window.align',
  ],
  ['a count that is negative', { window: { left: -1 } }, 'window.left'],
  ['a misspelt bound', { window: { lefft: 1 } }, 'lefft'],
  ['a number as window', { window: 3 }, 'window'],
] as const)('%s is refused', (_, options, name) => {
  const shapes = { q: [1, 1, 4, 8] };
  const call = (): unknown => evalShape(({ q }) => attention(q, q, q, options as never), shapes);
  expect(call).toThrow(InvalidArgumentError);
  expect(call).toThrow(name);
});
