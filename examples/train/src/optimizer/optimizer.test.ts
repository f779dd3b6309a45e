import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { createOptimizer } from './optimizer.ts';

// torch 2: torch.nn.utils.clip_grad_norm_(…, 1.0) and torch.optim.AdamW(lr=0.1, betas=(0.9, 0.98),
// weight_decay=0.5), two steps from matrix [[1, -2], [3, 4]] and vector [1, 2].
const gradients = [
  [Tensor.from([0.5, -0.25, 2, 0], [2, 2]), Tensor.from([1, -1], [2])],
  [Tensor.from([0.1, 0.2, -0.1, 0.3], [2, 2]), Tensor.from([0, 0.2], [2])],
];
const expected = {
  matrix: [0.7139408, -1.7466893, 2.5550289, 3.5359406],
  vector: [0.7401699, 1.9265172],
};

test('two steps of AdamW with clipping give what PyTorch gives', async () => {
  const engine = referenceEngine();
  const zeros = (shape: readonly number[]) => ({
    value: Tensor.zeros(shape),
    first: Tensor.zeros(shape),
    second: Tensor.zeros(shape),
  });
  const shapes = [[2, 2], [2]];
  const optimizer = createOptimizer(engine, shapes, { weightDecay: 0.5, maxNorm: 1 });
  let before = shapes.map(zeros);
  before[0] = { ...before[0], value: Tensor.from([1, -2, 3, 4], [2, 2]) };
  before[1] = { ...before[1], value: Tensor.from([1, 2], [2]) };
  for (const [n, own] of gradients.entries()) {
    const after = shapes.map(zeros);
    await optimizer.step(own, before, after, { t: n + 1, learningRate: 0.1 });
    before = after;
  }
  const near = (values: readonly number[]) => values.map(x => expect.closeTo(x, 5));
  expect([...before[0].value.toFloat64()]).toEqual(near(expected.matrix));
  expect([...before[1].value.toFloat64()]).toEqual(near(expected.vector));
});
