import { InvalidArgumentError, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { sdpa } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { type AttentionOptions, attention, compile, evalShape } from './index.ts';

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
