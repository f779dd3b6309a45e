import { expect, test } from 'vitest';
import { crossEntropy } from './cross-entropy.ts';

test('is the mean of −ln p(answer), with the gradient (p − answer) / questions', () => {
  const logits = Float32Array.from([0, Math.log(3), 0, 0]);
  const { loss, accuracy, dLogits } = crossEntropy(logits, Int32Array.from([1, 0]));
  expect(loss).toBeCloseTo((Math.log(4 / 3) + Math.log(2)) / 2, 6);
  expect(accuracy).toBe(1);
  [0.125, -0.125, -0.25, 0.25].forEach((d, n) => {
    expect(dLogits[n]).toBeCloseTo(d, 6);
  });
});

test('a question is right when no token is likelier than the answer', () => {
  const logits = Float32Array.from([1, 2, 2, 1]);
  expect(crossEntropy(logits, Int32Array.from([0, 0])).accuracy).toBe(0.5);
});

test('large logits do not overflow', () => {
  expect(crossEntropy(Float32Array.from([1000, 0]), Int32Array.from([1])).loss).toBeCloseTo(1000, 3);
});
