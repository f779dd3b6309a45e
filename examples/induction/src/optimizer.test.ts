import { expect, test } from 'vitest';
import { createAdamW } from './optimizer.ts';
import type { Parameter } from './parameters.ts';

function parameter(value: number[], gradient: number[]): Parameter {
  return {
    name: 'x',
    shape: [value.length],
    value: Float32Array.from(value),
    gradient: Float32Array.from(gradient),
  };
}

test('the first step is the learning rate in the direction of the gradient, and uses it up', () => {
  const x = parameter([1, 1, 1], [0.5, -0.002, 0]);
  createAdamW([x], { learningRate: 0.1, weightDecay: 0 }).step(1);
  [0.9, 1.1, 1].forEach((value, n) => {
    expect(x.value[n]).toBeCloseTo(value, 4);
  });
  expect([...x.gradient]).toEqual([0, 0, 0]);
});

test('weight decay shrinks a value by rate · decay, apart from its gradient', () => {
  const x = parameter([2], [0]);
  createAdamW([x], { learningRate: 0.1, weightDecay: 0.5 }).step(1);
  expect(x.value[0]).toBeCloseTo(1.9, 6);
});

test('finds the minimum of a quadratic', () => {
  const x = parameter([3, -2], [0, 0]);
  const optimizer = createAdamW([x], { learningRate: 0.1, weightDecay: 0 });
  for (let n = 0; n < 300; n++) {
    x.gradient[0] = x.value[0] - 1;
    x.gradient[1] = 10 * (x.value[1] - 2);
    optimizer.step(1 - n / 300);
  }
  expect(x.value[0]).toBeCloseTo(1, 2);
  expect(x.value[1]).toBeCloseTo(2, 2);
});
