import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { difference, logitsError, within, worstOf } from './compare.ts';

test('a NaN is the largest difference, whatever comes after it', () => {
  expect(difference([1, 2.5, 3], [1, 2, 3])).toBe(0.5);
  expect(difference([1, Number.NaN, 3], [1, 2, 3])).toBeNaN();
  expect(difference([1, 2], [1, 2, 3])).toBeNaN();
  expect(difference([Number.NaN, 2], [1, 2], n => n > 0)).toBe(0);
  const logits = Tensor.from([Number.NaN, 1], [1, 2]);
  expect(within(logitsError(logits, Tensor.from([1, 1], [1, 2]), null, 1e-4), 'the worst logit').status).toBe(
    'fail',
  );
});

test('the worst of some errors is one that is NaN, or else the largest', () => {
  const errors: [string, number][] = [
    ['a', 0.2],
    ['b', 0.7],
    ['c', 0.1],
  ];
  expect(worstOf(errors)).toEqual({ what: 'b', error: 0.7 });
  expect(worstOf([['z', Number.NaN], ...errors])).toEqual({ what: 'z', error: Number.NaN });
  expect(worstOf([...errors, ['z', Infinity]]).what).toBe('z');
});
