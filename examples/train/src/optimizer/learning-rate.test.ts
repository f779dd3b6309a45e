import { expect, test } from 'vitest';
import { trainConfig } from '../config.ts';
import { learningRateAt } from './learning-rate.ts';

test('rises over the warm-up, stays, and falls to 0 over the last fifth', () => {
  const config = trainConfig({ learningRate: 2, warmup: 4, steps: 20 });
  const rates = [0, 1, 3, 10, 16, 18, 19, 20, 25].map(n => learningRateAt(n, config));
  expect(rates).toEqual([0.5, 1, 2, 2, 2, 1, 0.5, 0, 0]);
});

test('without an end it stays, without a warm-up it starts high', () => {
  const config = trainConfig({ learningRate: 2, warmup: 0 });
  expect([0, 1e6].map(n => learningRateAt(n, config))).toEqual([2, 2]);
});
