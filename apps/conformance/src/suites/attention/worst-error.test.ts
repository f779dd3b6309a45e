import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { tensorError, worstOf } from './worst-error.ts';

const expected = { dtype: 'f32', shape: [4], data: new Float32Array([1, 2, 3, -Infinity]) } as const;
const error = (values: number[], allowed = { max: 1e-2, rms: 1e-2 }) =>
  tensorError('lse', Tensor.from(values, [values.length]), expected, allowed);

test('an error is measured relative to the allowed error', () => {
  expect(error([1, 2, 3, -Infinity])).toMatchObject({ ratio: 0 });
  expect(error([1, 2.5, 3, -Infinity], { max: 1, rms: 1 })).toMatchObject({
    ratio: 0.5,
    text: 'is off by 5.00e-1, where 1.00e+0 is allowed',
  });
});

test('a small error everywhere is measured by its mean square', () => {
  const { ratio, text } = error([1.125, 2.125, 3.125, -Infinity], { max: 1, rms: 0.1 });
  expect(ratio).toBeCloseTo(1.0825, 3);
  expect(text).toBe('has an RMS error of 1.08e-1, where 1.00e-1 is allowed');
});

test('NaN, an infinity of the wrong kind and a wrong shape are infinitely wrong', () => {
  expect(error([1, NaN, 3, -Infinity]).text).toBe('holds NaN at element 1, where 2 is expected');
  expect(error([1, 2, 3, -65536]).text).toBe('holds -65536 at element 3, where -Infinity is expected');
  expect(error([1, 2]).text).toBe('has shape [2] where [4] is expected');
});

test('the worst tensor is the one with the largest ratio', () => {
  const at = (tensor: string, ratio: number) => ({ tensor, ratio, text: '' });
  expect(worstOf([at('o', 0.1), at('dq', 0.7), at('dk', 0.2)]).tensor).toBe('dq');
});
